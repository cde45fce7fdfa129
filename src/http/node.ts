import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { pipeline, Readable } from 'node:stream'
import type { ApiError } from '../errors/api-error.ts'
import { bodyCutShort, notJson } from '../errors/call-errors.ts'
import type { Rules } from '../options.ts'
import { takePieces } from './export.ts'
import { openAdapter } from './handler.ts'
import { type HandlerOptions, type PathOption, withoutTrailingSlash } from './options.ts'
import {
  type AdapterRequest,
  createChunks,
  type HandlerRequest,
  MOST_DISCARDED_BYTES,
  MOST_DISCARDED_TIME,
  type OperationName,
  type RequestBody,
  readBefore,
  readPath,
  readQuery,
  stopsReading,
} from './request.ts'
import type { HandlerResponse } from './response.ts'
import { findOperation, operations } from './routes.ts'

/** A request of `node:http`, and the `body` that your server's body parser may have set. */
type NodeRequest = IncomingMessage & { readonly body?: unknown; readonly stream?: ServerHttp2Stream }

/** A response of `node:http`, or of Node's HTTP/2 with the same methods. */
type NodeResponse = ServerResponse & { readonly stream?: ServerHttp2Stream }

/** A request to one of our operations, on a Node server. */
interface Exchange<Raw> {
  readonly operation: OperationName
  /** The framework's request. */
  readonly raw: Raw
  /** Node's own request and response. */
  readonly request: NodeRequest
  readonly response: NodeResponse
  /** Default: reads the body of the request, or uses the result of your server's body parser. */
  readonly readBody?: HandlerRequest['readBody'] | undefined
}

/** A response to write. An export is a `stream`; any other response has a `body`. */
interface NodeAnswer extends Pick<HandlerResponse, 'status' | 'headers' | 'body'> {
  readonly stream?: Readable | undefined
}

/**
 * The code that the adapters for Node frameworks share: checks the options, finds the operation of a request, and
 * responds. An adapter only turns its framework's request into an {@link Exchange}.
 *
 * @param rules The rules for the options that only this adapter accepts.
 * @throws {TypeError} if an option is missing, invalid or unknown.
 */
export function mountOnNode<Raw>(options: HandlerOptions<AdapterRequest<Raw>> & PathOption, rules: Rules = {}) {
  const { path, offered, bodyTimeLimit, pageTimeLimit, ...adapter } = openAdapter(options, rules)

  /** @returns The response to write; `null` if the application has responded already, or the caller disconnected. */
  async function handle({ operation, raw, request, response, readBody }: Exchange<Raw>): Promise<NodeAnswer | null> {
    const { status, headers, body, stream } = await adapter.handle({
      header: name => readNodeHeader(request, name),
      readBody: readBody ?? (limit => readNodeBody(request, limit)),
      raw,
      id: readId(raw),
      operation,
      query: readQuery(request.url ?? ''),
    })
    if (!request.complete) await abandonBody(request, response, status, bodyTimeLimit)
    if (response.headersSent || response.destroyed) return null
    return { status, headers, body, stream: stream && toReadable(stream, pageTimeLimit, () => cutOff(response)) }
  }

  return {
    path,
    offered,

    /** Finds the operation of a request below the mount point. */
    route: ({ method = '', url = '' }: IncomingMessage): OperationName | undefined =>
      findOperation(offered, path, method, withoutTrailingSlash(readPath(url))),

    handle,

    /** Handles the request, and writes the response. */
    async respond(exchange: Exchange<Raw>): Promise<void> {
      const { response } = exchange
      const answer = await handle(exchange)
      if (!answer) return
      response.statusCode = answer.status
      // Sets each header separately, because responses over HTTP/2 have no `setHeaders`.
      for (const [name, value] of Object.entries(answer.headers)) response.setHeader(name, value)
      // Failures of an export are reported by the handler; here they only end the connection.
      if (answer.stream) pipeline(answer.stream, response, () => {})
      else response.end(answer.body)
    },
  }
}

/** Fastify gives each request an ID, and so does middleware such as pino-http. */
function readId(raw: unknown): string | undefined {
  const { id } = raw as { id?: unknown }
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined
}

/**
 * Returns the value of a header. If a request has several `Authorization` lines, Node returns only the first one, but a
 * proxy may have checked another one. So this function joins the lines, as Node does for most other headers, and the
 * result is not a valid token.
 */
function readNodeHeader({ headers, rawHeaders }: IncomingMessage, name: string): string | undefined {
  if (name === 'authorization') {
    const lines = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name)
    if (lines.length > 1) return lines.join(', ')
  }
  return headers[name]?.toString()
}

/**
 * Reads a body on a Node server, from the stream or from the `body` that your server's body parser has set: parsed
 * JSON, text or bytes.
 */
export function readNodeBody(request: NodeRequest, limit: number): RequestBody | Promise<RequestBody> {
  if (!request.readableDidRead && !request.readableEnded) return readStream(request, limit)
  let body: unknown
  try {
    body = request.body
  } catch (cause) {
    // On Vercel, `body` is a getter that throws if the body is not JSON.
    throw notJson(cause)
  }
  if (typeof body === 'string') return { text: body }
  if (body instanceof Uint8Array) return { bytes: body }
  if (body === undefined) throw readBefore()
  return { json: body }
}

/** Converts a chunk to bytes. After `request.setEncoding`, chunks are strings. */
const toBytes = (chunk: Uint8Array | string, encoding: BufferEncoding | null): Uint8Array =>
  typeof chunk === 'string' ? Buffer.from(chunk, encoding ?? 'utf8') : chunk

function readStream(request: NodeRequest, limit: number): Promise<RequestBody> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) return reject(bodyCutShort())
    const chunks = createChunks(limit)
    const stop = listen(request, {
      data(chunk: Uint8Array | string) {
        try {
          chunks.add(toBytes(chunk, request.readableEncoding))
        } catch (tooLarge) {
          settle(() => reject(tooLarge))
        }
      },
      end: () => settle(() => resolve({ bytes: chunks.toBytes() })),
      error: () => settle(() => reject(bodyCutShort())),
      close: () => settle(() => reject(bodyCutShort())),
    })
    function settle(outcome: () => void): void {
      stop()
      outcome()
    }
  })
}

/** Reads a stream until the returned function is called, which pauses the stream. */
function listen(request: NodeRequest, listeners: Readonly<Record<string, (chunk: Uint8Array | string) => void>>) {
  for (const [event, listener] of Object.entries(listeners)) request.on(event, listener)
  request.resume()
  return () => {
    request.pause()
    for (const [event, listener] of Object.entries(listeners)) request.off(event, listener)
  }
}

/**
 * Call this before you respond to a request whose body was not read to its end.
 *
 * If the connection or the HTTP/2 stream ends with the response, the rest of the body is read first, up to a limit.
 * Otherwise the peer, which is still sending, gets a reset and never sees the response (RFC 9112, section 9.6). A
 * connection that stays open for the next call needs no wait, because Node discards the rest of the body. In either
 * case, a body that never ends is cut off.
 */
async function abandonBody(
  request: NodeRequest,
  response: NodeResponse,
  status: number,
  timeLimit: number,
): Promise<void> {
  const { stream } = request
  if (!stream && response.shouldKeepAlive && !stopsReading(status)) {
    const timer = setTimeout(() => request.destroy(), timeLimit)
    request.once('close', () => clearTimeout(timer))
    return
  }
  if (status !== 408) await discardBody(request)
  if (request.complete) return
  if (stream) stream.once('finish', () => stream.destroy())
  else if (!response.headersSent) response.setHeader('Connection', 'close')
}

/** Reads the rest of a body, up to the limits. */
function discardBody(request: NodeRequest): Promise<void> {
  return new Promise(resolve => {
    if (request.destroyed || request.readableEnded) return resolve()
    let bytes = 0
    const stop = listen(request, {
      data(chunk) {
        bytes += chunk.length
        if (bytes > MOST_DISCARDED_BYTES) end()
      },
      end,
      error: end,
      close: end,
    })
    const timer = setTimeout(end, MOST_DISCARDED_TIME)
    function end(): void {
      clearTimeout(timer)
      stop()
      resolve()
    }
  })
}

/** The code of an internal error in HTTP/2 (RFC 9113, section 7). */
const INTERNAL_ERROR = 2

/**
 * Ends a response so that it does not look complete: closes the connection, or in HTTP/2 resets the stream with an
 * error. If the response ended in any other way, a client would take it for complete (RFC 9113, section 8.1).
 *
 * In HTTP/1.0, which has no chunks, a closed connection looks like the end of the body, so the connection is reset
 * instead.
 */
function cutOff(response: NodeResponse): void {
  if (response.stream) response.stream.close(INTERNAL_ERROR)
  else {
    if (response.req.httpVersion === '1.0') resetIfTcp(response.socket)
    response.destroy()
  }
}

function resetIfTcp(socket: ServerResponse['socket']): void {
  try {
    socket?.resetAndDestroy()
  } catch {
    // TLS and Unix sockets cannot be reset.
  }
}

/**
 * Streams an export, one piece at a time and no faster than the caller reads. Once the caller disconnects, no more
 * pieces are read. If the next piece cannot be read, or the caller does not read a piece in time, the response is cut
 * off so that it does not look complete.
 */
function toReadable(pieces: AsyncIterable<string>, timeLimit: number, cutOffResponse: () => void): Readable {
  const { next, end } = takePieces(pieces, timeLimit, cutOffResponse)
  return new Readable({
    highWaterMark: 1,
    read() {
      next().then(
        ({ value }) => void this.push(value ?? null),
        error => {
          cutOffResponse()
          this.destroy(error)
        },
      )
    },
    destroy(error, done) {
      end().then(
        () => done(error),
        () => done(error),
      )
    },
  })
}

/** Our error for each reason why a framework rejects a body, keyed by the framework's name for the reason. */
export type RejectedBodies = Readonly<Record<string, (() => ApiError) | undefined>>

/**
 * Turns the framework's rejection into a body that fails only when it is read, after checks such as the one for 401.
 *
 * @returns A `readBody` that throws our error. `null` for errors that the application handles: those of a GET, too, of
 *   which no body is read. It would be answered, although the error has made it skip the application's checks.
 */
export function toRejectedBody(
  operation: OperationName,
  rejectedBodies: RejectedBodies,
  name: unknown,
): (() => never) | null {
  if (operations[operation].method === 'GET') return null
  const toError = typeof name === 'string' && Object.hasOwn(rejectedBodies, name) ? rejectedBodies[name] : undefined
  if (!toError) return null
  return () => {
    throw toError()
  }
}
