import * as z from 'zod/mini'
import { isApiError } from '../errors/api-error.ts'
import { invalidRequest } from '../errors/call-errors.ts'
import type { KeyContext } from '../keys/key-context.ts'

/** The most hostnames in one call. */
export const MAX_DOMAINS = 100

/** The most digits in a team ID. The digits of any 128-bit number fit, and so they do into the key of any database. */
export const MAX_TEAM_ID_LENGTH = 64

/**
 * The schemas of the fields of a request body. They are made at the first call, so that a bundle which does not call
 * this leaves the schema library out.
 */
export function requestSchemas() {
  schemas ??= createSchemas()
  return schemas
}

let schemas: ReturnType<typeof createSchemas> | undefined

function createSchemas() {
  const domains = z
    .array(z.string({ error: 'must be a string' }), { error: 'must be an array of 1 to 100 hostnames' })
    .check(
      z.minLength(1, { error: 'must hold at least one hostname' }),
      z.maxLength(MAX_DOMAINS, {
        error: `must hold at most ${MAX_DOMAINS} hostnames; split a longer list into several calls`,
      }),
    )
  const team_id = z
    .string({ error: 'is required with an organization key: send the ID of the team as a string of digits' })
    .check(
      z.regex(/^[0-9]+$/, { error: 'must be the ID of a team, a string of digits' }),
      z.maxLength(MAX_TEAM_ID_LENGTH, { error: `must be the ID of a team, at most ${MAX_TEAM_ID_LENGTH} digits` }),
    )
  return { domains, team_id }
}

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
  /** The team to register in: with an organization key that of the body, with a team key that of the key. */
  readonly teamId: string
}

/**
 * Validates the parsed JSON body. Unknown fields are ignored, so that a newer client can talk to an older server. A
 * team key acts on its own team: a `team_id` in the body is ignored, whatever it is.
 *
 * @throws {ApiError} 400 `invalid_request`. The message names the path of the first fault, such as `domains[3]`.
 */
export function parseRequest(body: unknown, keyContext: KeyContext): ParsedRequest {
  try {
    if (typeof body !== 'object' || body === null || Array.isArray(body))
      throw invalidRequest('The request body must be a JSON object with the field "domains".')
    const { domains, team_id } = requestSchemas()
    return {
      domains: readField(body, 'domains', domains),
      teamId: keyContext.type === 'team' ? keyContext.teamId : readField(body, 'team_id', team_id),
    }
  } catch (cause) {
    if (isApiError(cause)) throw cause
    // The body is not plain data: for instance, one of its getters throws.
    throw invalidRequest('The request body could not be read.', cause)
  }
}

/** Field by field: schemas of objects would add a kilobyte to a bundle (`npm run bench -- size` in the repository). */
function readField<Value>(body: object, name: string, schema: z.ZodMiniType<Value>): Value {
  const parsed = z.safeParse(schema, (body as Record<string, unknown>)[name])
  if (parsed.success) return parsed.data
  const [{ path, message }] = parsed.error.issues as [z.core.$ZodIssue]
  throw invalidRequest(`${name}${path.map(index => `[${String(index)}]`).join('')} ${message}.`)
}
