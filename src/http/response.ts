import type { ApiError } from '../errors/api-error.ts'
import type { ErrorResponse } from '../wire/results.ts'

/** A response, in the same form for every adapter. */
export interface HandlerResponse {
  status: number
  headers: Record<string, string>
  /** JSON; empty if there is a {@link stream}. */
  body: string
  /**
   * The body of an export, piece by piece. Take the next piece only once the previous one has been sent, and end the
   * iteration when the caller stops reading. If the iteration throws, cut off the response so that it does not look
   * complete.
   */
  stream?: AsyncIterable<string>
}

export function respond(status: number, body: object, headers: Record<string, string> = {}): HandlerResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store', ...headers },
    body: JSON.stringify(body),
  }
}

export function respondWithStream(
  { contentType, fileName }: { readonly contentType: string; readonly fileName: string },
  stream: AsyncIterable<string>,
  headers: Record<string, string>,
): HandlerResponse {
  const fields = {
    'Content-Type': contentType,
    'Content-Disposition': `attachment; filename="${fileName}"`,
    'Cache-Control': 'no-store',
    ...headers,
  }
  return { status: 200, headers: fields, body: '', stream }
}

export function respondWithError(error: ApiError, headers: Record<string, string> = {}): HandlerResponse {
  const body: ErrorResponse = { error: error.code, message: error.message }
  return respond(error.status, body, { ...headers, ...error.headers })
}
