import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { pipeline, Readable } from 'node:stream'
import { bodyCutShort } from '../errors/call-errors.ts'
import { type RequestBody, stopsReading } from '../http/request.ts'
import { createChunks } from './chunks.ts'

/**
 * Returns the value of a header field. Of several `Authorization` lines Node hands on the first; here they are joined
 * like those of any other field, and so are no valid token: a proxy may have looked at another one than we would.
 */
export function readNodeHeader({ headers, rawHeaders }: IncomingMessage, name: string): string | undefined {
  if (name === 'authorization') {
    const lines = rawHeaders.filter((_, index) => index % 2 === 1 && rawHeaders[index - 1]?.toLowerCase() === name)
    if (lines.length > 1) return lines.join(', ')
  }
  return headers[name]?.toString()
}

/** A request of `node:http`, and the `body` that a parser of your server may have set. */
export type NodeRequest = IncomingMessage & { readonly body?: unknown }

/**
 * Reads a body on a Node server: from the stream, or from the `body` that a parser of your server has set, as parsed
 * JSON, text or bytes.
 */
export function readNodeBody(request: NodeRequest, limit: number): RequestBody | Promise<RequestBody> {
  if (!request.readableDidRead && !request.readableEnded) return readStream(request, limit)
  const { body } = request
  if (typeof body === 'string') return { text: body }
  if (body instanceof Uint8Array) return { bytes: body }
  if (body === undefined) throw new Error('The request body was read before and not left in request.body')
  return { json: body }
}

/**
 * Call this before an answer to a body that was not read to its end, so that a body which never ends holds no
 * connection.
 *
 * A 408 or a 413 closes the connection, or in HTTP/2 the stream (RFC 9113, section 8.1). Any other answer, such as a
 * 401, keeps the connection for the next call if the rest of the body arrives within the limit.
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

/** After `request.setEncoding`, chunks are text. */
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

/** RFC 9113, section 7. */
const INTERNAL_ERROR = 2

/**
 * Ends a response so that it does not look complete: by closing the connection, or in HTTP/2 by resetting the stream
 * with an error, since a client takes any other end for the end of the body (RFC 9113, section 8.1).
 */
export function cutOff(response: ServerResponse & { readonly stream?: ServerHttp2Stream }): void {
  if (response.stream) response.stream.close(INTERNAL_ERROR)
  else response.destroy()
}

/**
 * The body of an export: one piece at a time, no faster than the caller reads. When the caller is gone, no more is
 * taken; when there is no next piece, the answer is cut off, so that it does not look complete.
 */
export const toReadable = (pieces: AsyncIterable<string>): Readable =>
  Readable.from(pieces, { objectMode: false, highWaterMark: 1 })

/** Writes the body of an export. A failure was reported by the handler, and only ends the connection here. */
export const writeStream = (pieces: AsyncIterable<string>, response: ServerResponse): unknown =>
  pipeline(toReadable(pieces), response, () => {})
