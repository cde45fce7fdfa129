import type { IncomingMessage } from 'node:http'
import { ApiError } from '../errors.ts'
import { payloadTooLarge, type RequestBody } from './request.ts'

/** A request of `node:http`, with what a body parser of the host's may have left on it. */
export type NodeRequest = IncomingMessage & { readonly body?: unknown }

/**
 * The one place that knows how a body may reach a Node server: still on the wire, or read already by a parser that the
 * host mounted before, as parsed JSON, text or bytes.
 */
export function readNodeBody(request: NodeRequest, limit: number): RequestBody | Promise<RequestBody> {
  if (!request.readableDidRead && !request.readableEnded) return readStream(request, limit)
  const { body } = request
  if (typeof body === 'string') return { text: body }
  if (body instanceof Uint8Array) return { bytes: body }
  if (body === undefined) throw new Error('The request body was read before and not left in request.body')
  return { json: body }
}

function readStream(request: NodeRequest, limit: number): Promise<RequestBody> {
  return new Promise((resolve, reject) => {
    if (request.destroyed) return reject(cutShort())
    const chunks: Uint8Array[] = []
    let length = 0

    const onData = (chunk: Uint8Array) => {
      length += chunk.byteLength
      if (length <= limit) chunks.push(chunk)
      else settle(() => reject(payloadTooLarge(limit)))
    }
    const onEnd = () => settle(() => resolve({ bytes: concatenate(chunks, length) }))
    const onCutShort = () => settle(() => reject(cutShort()))
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

const cutShort = () => new ApiError('invalid_request', 'The request body was cut short.')

function concatenate(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.byteLength
  }
  return bytes
}
