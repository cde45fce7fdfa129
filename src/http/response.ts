import type { ApiError } from '../errors.ts'
import type { ErrorResponse } from '../wire/response.ts'

/** An answer, the same for every adapter. */
export interface HandlerResponse {
  status: number
  headers: Record<string, string>
  /** JSON. */
  body: string
}

export function respond(status: number, body: object, headers: Record<string, string> = {}): HandlerResponse {
  return {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', 'Cache-Control': 'no-store', ...headers },
    body: JSON.stringify(body),
  }
}

export function respondWithError(error: ApiError, headers: Record<string, string> = {}): HandlerResponse {
  const body: ErrorResponse = { error: error.code, message: error.message }
  return respond(error.status, body, { ...headers, ...error.headers })
}
