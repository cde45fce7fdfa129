import * as z from 'zod'
import { MOST_AT_ONCE } from '../store/contract.ts'
import { MAX_DOMAINS } from '../wire/requests.ts'
import { invalidCodes, rejections } from '../wire/results.ts'

// The public types, in `src/wire/results.ts`, are interfaces: editors and the reference show an interface by its name,
// and callers then need no types of zod. Types made from schemas would also lose the comments of their fields, which
// TypeScript leaves out of the declaration of a schema. A test lets the compiler check that each schema and its type
// are equal.

/** A Markdown list of codes and what they mean. */
export const toMarkdownList = (meanings: Readonly<Record<string, string>>): string =>
  Object.entries(meanings)
    .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
    .join('\n')

const codeOf = <Code extends string>(meanings: Readonly<Record<Code, string>>) =>
  z.enum(Object.keys(meanings) as Code[]).describe(toMarkdownList(meanings))

const input = z.string().describe('The hostname exactly as submitted.')
const domain = z.string().describe('The hostname in canonical form: lower case, A-labels, no trailing dot.')
const domainId = z.string()
const time = z.string().meta({ format: 'date-time' })
const statusOf = (created: string) =>
  `\`created\`: ${created}. \`existing\`: already registered, or submitted earlier in this call.`

const responseOf = <Data extends z.ZodType>(data: Data) => z.strictObject({ data }).describe('The response to a call.')

const RESULTS = 'The result of each hostname, and the number of results with each status.'
const resultsOf = <Result extends z.ZodType>(result: Result) =>
  z.array(result).min(1).max(MAX_DOMAINS).describe('In the order of the submitted hostnames.')

const count = z.int().min(0).max(MAX_DOMAINS)

export const registeredResult = z
  .strictObject({
    status: z.enum(['created', 'existing']).describe(statusOf('registered by this call')),
    input,
    domain,
    domainId: domainId.describe(
      'The ID of the registration: opaque, and unchanged as long as the hostname stays registered.',
    ),
  })
  .describe('The hostname is registered by the team.')

export const invalidResult = z
  .strictObject({
    status: z.enum(['invalid']),
    input,
    code: codeOf(invalidCodes),
    message: z
      .string()
      .describe('For people. Says what is wrong and, if only one hostname can be meant, what to send instead.'),
  })
  .describe('The hostname was not registered. `code` and `message` say why.')

export const domainResult = z.discriminatedUnion('status', [registeredResult, invalidResult])

export const totals = z
  .strictObject({ created: count, existing: count, invalid: count })
  .describe('How many results have each status.')

export const registerDomainsResponse = responseOf(
  z.strictObject({ results: resultsOf(domainResult), totals }).describe(RESULTS),
)

export const creatablePreview = z
  .strictObject({ status: z.enum(['created']), input, domain })
  .describe('The hostname could be registered now.')

export const existingPreview = z
  .strictObject({
    status: z.enum(['existing']),
    input,
    domain,
    domainId: domainId.optional().describe('The ID of the registration, if there is one already.'),
  })
  .describe('The team has registered the hostname, or it was submitted earlier in this call.')

export const dnsRecord = z
  .strictObject({
    type: z.string().describe('The type of the record, such as `TXT`.'),
    name: z.string().describe('The whole name of the record.'),
    host: z.string().describe('The same name without the zone, as most forms for records want it.'),
    zone: z.string().describe('The zone to which the record is added.'),
    value: z.string(),
  })
  .describe('A DNS record with which the hostname would be allowed.')

export const invalidPreview = z
  .strictObject({
    ...invalidResult.shape,
    reason: z.string().describe('A more precise code, for programs. New reasons may be added.'),
    domain: domain
      .optional()
      .describe('The hostname in canonical form. Present if it conflicts with registrations of the same team.'),
    suggestion: z.string().optional().describe('The hostname to send instead, in canonical form.'),
    certain: z.boolean().optional().describe(
      'Present only with a `suggestion`. `true` if it is the same host in another notation, which a program may send \
without asking; `false` if it is a guess for a person to confirm.',
    ),
    hosts: z.array(z.string()).min(2).optional().describe(
      'All hostnames that the input names, in canonical form, if there are two or more and each is valid. Never with a \
`suggestion`. Ask a person before you send them.',
    ),
    aLabels: z
      .string()
      .optional()
      .describe('The same name in A-labels, to send if the rejected character is intended.'),
    rest: z
      .string()
      .optional()
      .describe('What is left of the input after the mistake is removed, if that is still invalid.'),
    record: dnsRecord.optional(),
    waits: z
      .boolean()
      .optional()
      .describe('`true` if registering it would keep it, and the server would try again by itself.'),
    conflicts: z
      .array(z.string())
      .max(3)
      .optional()
      .describe('The conflicting registrations of the same team, at most three.'),
    count: z
      .int()
      .min(1)
      .optional()
      .describe('The number of conflicting registrations. From 1,000 on, the real number may be larger.'),
    character: z.string().optional().describe('The invalid character.'),
    label: z.string().optional().describe('The invalid label.'),
    length: z
      .int()
      .min(0)
      .optional()
      .describe('The length that is too long: of a name, a label, or the prefix of an address range.'),
    topLevel: z.string().optional().describe('The top-level label that is not in the public DNS.'),
    suffix: z.string().optional().describe('The public suffix after the `*.` of a wildcard.'),
    address: z.string().optional().describe('The IP address that the input represents, in canonical form.'),
    block: z.string().optional().describe('The reason why this address is not public, in English.'),
    source: z
      .string()
      .optional()
      .describe('The document or list with the rule that the input breaks, such as `RFC 6761`.'),
  })
  .describe('A hostname that would not be registered, with more details than registering returns.')

export const previewResult = z.discriminatedUnion('status', [creatablePreview, existingPreview, invalidPreview])
export const previewDomainsResponse = responseOf(
  z
    .strictObject({
      results: resultsOf(previewResult),
      totals,
      room: z
        .int()
        .nullable()
        .describe('How many more hostnames the team may register; below 0 above its limit, null without a limit.'),
    })
    .describe(RESULTS),
)

export const deletedResult = z
  .strictObject({
    status: z.enum(['deleted']),
    input,
    domain,
    domainId: domainId.describe('The ID of the deleted registration.'),
  })
  .describe('The registration was deleted. The hostname can be registered again.')

export const missingResult = z
  .strictObject({
    status: z.enum(['missing']),
    input,
    waited: z.boolean().optional().describe('`true` if the hostname waited to be registered. It no longer does.'),
  })
  .describe('The team has not registered the hostname, or has already deleted it. Another team may have registered it.')

export const invalidDeletion = z
  .strictObject({ ...invalidResult.shape, code: codeOf(rejections) })
  .describe('The input is no hostname that could be registered. `code` and `message` say why.')

export const deleteResult = z.discriminatedUnion('status', [deletedResult, missingResult, invalidDeletion])

export const deleteTotals = z
  .strictObject({ deleted: count, missing: count, invalid: count })
  .describe('How many results have each status.')

export const deleteDomainsResponse = responseOf(
  z.strictObject({ results: resultsOf(deleteResult), totals: deleteTotals }).describe(RESULTS),
)

export const listedDomain = z
  .strictObject({
    domain,
    domainId: domainId.describe('The ID of the registration.'),
    createdAt: time.describe('The time of registration, in UTC (RFC 3339).'),
  })
  .describe('A registration of the team.')

export const listDomainsResponse = responseOf(
  z
    .strictObject({
      domains: z.array(listedDomain).max(MOST_AT_ONCE),
      next: z.string().nullable().describe('Send it as `after` to get the next page; `null` if there are no more.'),
      operations: z.array(z.string()).optional().describe('The operations that the caller may use, such as `delete`.'),
    })
    .describe('A page of registrations.'),
)

export const waitingDomain = z
  .strictObject({
    domain,
    since: time.describe('When the team first asked for the hostname.'),
    until: time.describe('After the first try from this time on, the hostname waits no longer.'),
    lastTried: time.describe('When the server last tried to register it.'),
    nextTry: time.describe('When the server tries again.'),
    code: codeOf(invalidCodes),
    reason: z.string().describe('A more precise code, for programs.'),
    message: z.string().describe('For people. Says what is missing.'),
    record: dnsRecord.optional(),
  })
  .describe('A hostname that waits to be registered. Another team may register it meanwhile.')

export const listWaitingResponse = responseOf(
  z.strictObject({ domains: z.array(waitingDomain) }).describe('The hostnames of the team that wait.'),
)

export const errorResponse = z
  .strictObject({
    error: z.string().describe("For programs: one of the codes listed for the status, or one of this server's own."),
    message: z.string().describe('For people. Says what went wrong, and what to send instead.'),
  })
  .describe('The whole call failed.')

export const domainChange = z
  .object({
    kind: z.enum(['registered', 'released']),
    domainId: domainId.describe('The ID of the registration. IDs are never reused.'),
    domain,
    registrableDomain: z
      .string()
      .describe('The registrable domain of the hostname; for an IP address, the address itself.'),
    teamId: z.string().describe('The ID of the team that registered or released the hostname.'),
    at: time.describe('The time of the registration or release, in UTC (RFC 3339).'),
  })
  .describe('A hostname that was registered or released.')

export const domainsChanged = z
  .object({
    type: z.enum(['domains.changed']),
    data: z.object({ changes: z.array(domainChange).min(1) }).describe('The changes.'),
  })
  .describe('Registrations that have changed. Ignore unknown fields.')
