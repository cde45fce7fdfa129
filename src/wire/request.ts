import { isApiError } from '../errors/api-error.ts'
import { invalidRequest } from '../errors/call-errors.ts'
import type { KeyContext } from '../keys/key-context.ts'
import { readFields } from './request-schemas.ts'

/** The JSON body of a call. */
export interface RegisterDomainsRequest {
  /** 1 to 100 hostnames. */
  domains: string[]
  /** The ID of the team, 1 to 64 digits. Required with an organization key, and ignored with a team key. */
  team_id?: string | undefined
}

/** A validated request. */
interface ParsedRequest {
  readonly domains: readonly string[]
  /**
   * The team to act on: with an organization key, the team in the body; with a team key, the team that owns the key.
   */
  readonly teamId: string
}

/**
 * Validates the parsed JSON body of a call that registers, previews or deletes.
 *
 * @throws {ApiError} 400 `invalid_request`, as for {@link readFields}.
 */
export function parseRequest(body: unknown, keyContext: KeyContext): ParsedRequest {
  try {
    return readFields('body', body, keyContext)
  } catch (cause) {
    if (isApiError(cause)) throw cause
    // The body is not plain data: for instance, one of its getters throws.
    throw invalidRequest('The request body could not be read.', cause)
  }
}
