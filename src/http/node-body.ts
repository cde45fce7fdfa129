import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { pipeline, Readable } from 'node:stream'
import { bodyCutShort } from '../errors/call-errors.ts'
import { createChunks } from './chunks.ts'
import { type RequestBody, stopsReading } from './request.ts'

/**
 * Returns the value of a header. If a request has several `Authorization` lines, Node returns only the first one, but a
 * proxy may have checked another one. So this function joins the lines, as Node does for most other headers, and the
 * result is not a valid token.
 */
export function readNodeHeader({ headers, rawHeaders }: IncomingMessage, name: string): string | undefined {
  if (name === 'authorization') {
    const lines = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name)
    if (lines.length > 1) return lines.join(', ')
  }
  return headers[name]?.toString()
}

/** A request of `node:http`, and the `body` that your server's body parser may have set. */
export type NodeRequest = IncomingMessage & { readonly body?: unknown }

/**
 * Reads a body on a Node server, from the stream or from the `body` that your server's body parser has set: parsed
 * JSON, text or bytes.
 */
export function readNodeBody(request: NodeRequest, limit: number): RequestBody | Promise<RequestBody> {
  if (!request.readableDidRead && !request.readableEnded) return readStream(request, limit)
  const { body } = request
  if (typeof body === 'string') return { text: body }
  if (body instanceof Uint8Array) return { bytes: body }
  if (body === undefined) throw new Error('The request body has already been read and is not in request.body')
  return { json: body }
}

/**
 * Call this before you respond to a request whose body was not read to its end. Otherwise a body that never ends would
 * keep its connection open.
 *
 * A 408 or a 413 closes the connection, or in HTTP/2 the stream (RFC 9113, section 8.1). Any other response, such as a
 * 401, keeps the connection open for the next call if the rest of the body arrives within the time limit.
 */
export function abandonBody(
  request: IncomingMessage & { readonly stream?: ServerHttp2Stream },
  response: ServerResponse,
  status: number,
  timeLimit: number,
): void {
  if (request.complete) return
  const { stream } = request
  if (!stopsReading(status)) {
    const timer = setTimeout(() => request.destroy(), timeLimit)
    request.once('close', () => clearTimeout(timer))
  } else if (stream) stream.once('finish', () => stream.destroy())
  else response.setHeader('Connection', 'close')
}

/** Converts a chunk to bytes. After `request.setEncoding`, chunks are strings. */
const toBytes = (chunk: Uint8Array | string, encoding: BufferEncoding | null): Uint8Array =>
  typeof chunk === 'string' ? Buffer.from(chunk, encoding ?? 'utf8') : chunk

function readStream(request: NodeRequest, limit: number): Promise<RequestBody> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) return reject(bodyCutShort())
    const chunks = createChunks(limit)

    const onData = (chunk: Uint8Array | string) => {
      try {
        chunks.add(toBytes(chunk, request.readableEncoding))
      } catch (tooLarge) {
        settle(() => reject(tooLarge))
      }
    }
    const onEnd = () => settle(() => resolve({ bytes: chunks.toBytes() }))
    const onCutShort = () => settle(() => reject(bodyCutShort()))
    const settle = (outcome: () => void) => {
      request.pause()
      for (const [event, listener] of listeners) request.off(event, listener)
      outcome()
    }
    const listeners = [
      ['data', onData],
      ['end', onEnd],
      ['error', onCutShort],
      ['close', onCutShort],
    ] as const
    for (const [event, listener] of listeners) request.on(event, listener)
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
export function cutOff(response: ServerResponse & { readonly stream?: ServerHttp2Stream }): void {
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
 * Streams the body of an export, one piece at a time and no faster than the caller reads. Once the caller disconnects,
 * no more pieces are read. If the next piece cannot be read, the response is cut off so that it does not look complete.
 */
export const toReadable = (pieces: AsyncIterable<string>): Readable =>
  Readable.from(pieces, { objectMode: false, highWaterMark: 1 })

/** Writes the body of an export. Failures are reported by the handler; here they only end the connection. */
export const writeStream = (pieces: AsyncIterable<string>, response: ServerResponse): unknown =>
  pipeline(toReadable(pieces), response, () => {})
