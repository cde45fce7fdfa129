import * as z from 'zod/mini'
import { invalidRequest } from '../errors/call-errors.ts'
import type { InvalidHostname } from '../hostname/classify.ts'
import type { KeyContext } from '../keys/key-context.ts'
import { isText } from '../options.ts'
import { isAddress, isWildcard, type Name } from '../registry/name.ts'
import { MOST_AT_ONCE } from '../registry/store.ts'
import { isName, readSubmitted, toName } from '../registry/submitted.ts'

/** The allowed values of each field that has a fixed set of values. */
export const choices = {
  order: ['oldest', 'newest'],
  format: ['csv', 'ndjson'],
} as const

/** The fields of each request, in the order in which they are checked. */
export const requestFields = {
  body: ['domains', 'team_id'],
  list: ['below', 'domain', 'order', 'after', 'team_id', 'limit'],
  export: ['after', 'team_id'],
  exportFormat: ['format'],
} as const

/** The fields that must be sent; all others may be missing. With a team key, the `team_id` comes from the key. */
const requiredFields = ['domains', 'team_id'] as const

/** The maximum number of hostnames in one call. */
export const MAX_DOMAINS = 100

/** The maximum number of digits in a team ID. Any 128-bit number fits, and so does the integer key of any database. */
export const MAX_TEAM_ID_LENGTH = 64

/** The maximum number of registrations on a page. */
export const MAX_LIMIT = MOST_AT_ONCE
export const DEFAULT_LIMIT = 100

/** The maximum number of characters in a cursor. The store that created the cursor checks its content. */
export const MAX_CURSOR_LENGTH = 512

/**
 * Returns the schemas of all fields that a call may have, in a body or a query. The schemas validate values but never
 * modify them. Each error message completes a sentence that begins with the path of the field. The schemas are created
 * at the first call, so a bundle that does not need them omits the schema library.
 */
export function fieldSchemas() {
  schemas ??= createSchemas()
  return schemas
}

let schemas: ReturnType<typeof createSchemas> | undefined

function createSchemas() {
  const hostname = parameter().check(
    z.refine(text => isName(readSubmitted(text)), {
      error: ({ input }) => `must be a hostname. ${(readSubmitted(input as string) as InvalidHostname).message}`,
      abort: true,
    }),
  )
  return {
    domains: z
      .array(string('must be a string.'), { error: `must be an array of 1 to ${MAX_DOMAINS} hostnames.` })
      .check(
        z.refine(domains => domains.length > 0, { error: 'must contain at least one hostname.' }),
        z.refine(domains => domains.length <= MAX_DOMAINS, {
          error: `must contain at most ${MAX_DOMAINS} hostnames; split a longer list into several calls.`,
        }),
      ),
    team_id: string(TEAM_ID).check(z.refine(isTeamId, { error: TEAM_ID })),
    limit: parameter().check(z.refine(isLimit, { error: LIMIT })),
    after: parameter().check(
      z.refine(text => text.length <= MAX_CURSOR_LENGTH, { error: 'must be the "next" of the previous page.' }),
    ),
    order: choice(choices.order),
    domain: hostname,
    below: hostname.check(
      z.refine(isPlainName, {
        error: 'must be a name such as "example.com": nothing is below a wildcard or an IP address.',
      }),
    ),
    format: choice(choices.format),
  }
}

const TEAM_ID = `must be the ID of a team, a string of 1 to ${MAX_TEAM_ID_LENGTH} digits; \
an organization key requires it.`
const isTeamId = (text: string) => /^[0-9]+$/.test(text) && text.length <= MAX_TEAM_ID_LENGTH
const LIMIT = `must be an integer from 1 to ${MAX_LIMIT}.`
const isLimit = (text: string) => /^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= MAX_LIMIT

function isPlainName(text: string): boolean {
  const { domain } = toName(text) as Name
  return !isWildcard(domain) && !isAddress(domain)
}

/** A query parameter that was sent twice is an array, so it is rejected with this message. */
const parameter = () => string('must be sent once.')

/** Replaces the validator `string` of the library, which also checks formats and would make bundles larger. */
const string = (error: string) => z.custom<string>(isText, { error })

const choice = (all: readonly string[]) =>
  parameter().check(z.refine(text => all.includes(text), { error: `must be "${all.join('" or "')}".` }))

type Schemas = ReturnType<typeof createSchemas>
type RequiredField = (typeof requiredFields)[number]
type FieldValues<Name extends keyof Schemas> = {
  readonly [Each in Name]: z.output<Schemas[Each]> | (Each extends RequiredField ? never : undefined)
}

/**
 * Reads fields of a body or of a query, in the order of `names`. Other fields are ignored, so a newer client can call
 * an older server. A team key always acts on its own team: `team_id` is ignored, even if it is invalid.
 *
 * @throws {ApiError} 400 `invalid_request`. The message names the path of the first error, such as `domains[3]`, and
 *   does not repeat the value.
 */
export function readFields<Name extends keyof Schemas>(
  sent: object,
  names: readonly Name[],
  keyContext: KeyContext,
): FieldValues<Name> {
  const read = (name: Name) =>
    name === 'team_id' && keyContext.type === 'team' ? keyContext.teamId : readField(sent, name)
  return Object.fromEntries(names.map(name => [name, read(name)])) as FieldValues<Name>
}

/**
 * Reads one field. A schema of the whole object would be compiled with `new Function`, and would make bundles larger.
 */
function readField(sent: object, name: keyof Schemas): unknown {
  const value = (sent as Record<string, unknown>)[name]
  if (value === undefined && !requiredFields.some(required => required === name)) return undefined
  const parsed = z.safeParse<z.ZodMiniType>(fieldSchemas()[name], value)
  if (parsed.success) return parsed.data
  const [{ path, message }] = parsed.error.issues as [z.core.$ZodIssue]
  throw invalidRequest(`${name}${path.map(index => `[${String(index)}]`).join('')} ${message}`)
}
