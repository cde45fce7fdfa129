import type { HostnameDetails } from '../hostname/mistake.ts'
import { MAX_DOMAINS, MAX_LIMIT, MAX_TEAM_ID_LENGTH } from '../wire/fields.ts'
import type { InvalidCode } from '../wire/response.ts'

/** When a hostname gets each code. A code that is missing here does not compile. */
const invalidCodes: Readonly<Record<InvalidCode, string>> = {
  empty_domain: 'Nothing but white space.',
  invalid_domain: 'Not a hostname, or an unusual spelling of a public IP address.',
  public_suffix_domain: 'A public suffix, or a wildcard over one.',
  internal_domain: 'Not in the public DNS.',
  reserved_ip: 'An IP address that is not the address of a public server, in any spelling.',
  wildcard_conflict: 'A wildcard that the team has registered covers it.',
  subdomain_conflict: 'A wildcard that would cover hostnames that the team has registered.',
  domain_already_licensed: 'It overlaps with a registration of another team.',
  internal_error: 'It could not be saved, although others were. Send it again later.',
}

/** A Markdown list of codes and what they mean. */
export const toMarkdownList = (meanings: Readonly<Record<string, string>>): string =>
  Object.entries(meanings)
    .map(([code, meaning]) => `- \`${code}\`: ${meaning}`)
    .join('\n')

/** A request: all properties are required, and others are ignored. */
const request = (description: string, properties: object) => ({
  type: 'object',
  description,
  properties,
  required: Object.keys(properties),
})
/** A part of a response: all properties are required, and there are no others. */
const answer = (description: string, properties: object) => ({
  ...request(description, properties),
  additionalProperties: false,
})
const text = (description: string) => ({ type: 'string', description })
const count = { type: 'integer', minimum: 0, maximum: MAX_DOMAINS }
const upTo100 = { type: 'array', minItems: 1, maxItems: MAX_DOMAINS }
const input = text('The hostname exactly as it was submitted.')
const domains = {
  ...upTo100,
  items: { type: 'string' },
  description:
    'Hostnames: names such as `www.example.com`, wildcards such as `*.example.com`, and public IP addresses. ' +
    'International names may be in Unicode. Each gets its own result.',
}

const domain = text('The hostname in canonical form: lower case, A-labels, no trailing dot.')

export const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` })

const status = (...values: readonly string[]) => ({ type: 'string', enum: values })

const answerOf = (description: string, data: object) =>
  answer('The answer to a call.', { data: answer(description, data) })
const resultsOf = (result: string, totals: string) =>
  answerOf('What became of the hostnames.', {
    results: { ...upTo100, items: refer(result), description: 'In the order of the hostnames.' },
    totals: refer(totals),
  })

const invalid = {
  status: status('invalid'),
  input,
  code: { ...text(toMarkdownList(invalidCodes)), enum: Object.keys(invalidCodes) },
  message: text('For a person: what is wrong and, where it is plain, what to send instead.'),
}

/** What varies with the reason. A field that is missing here does not compile. */
const details: Readonly<Record<keyof HostnameDetails, object>> = {
  character: text('The character that is wrong.'),
  label: text('The label that is wrong.'),
  length: { type: 'integer', minimum: 0, description: 'How long it is: what is too long.' },
  topLevel: text('The top-level label that is not in the public DNS.'),
  suffix: text('The public suffix below a wildcard.'),
  address: text('The canonical form of the address that the text stands for.'),
  block: text('Why that address is not public, in English.'),
  source: text('What reserves the name.'),
}

export const schemas = {
  OrganizationRequest: request('What to send with an organization key. Unknown fields are ignored.', {
    domains,
    team_id: {
      ...text(`The ID of the team to act on, one of the organization's: at most ${MAX_TEAM_ID_LENGTH} digits.`),
      maxLength: MAX_TEAM_ID_LENGTH,
      pattern: '^[0-9]+$',
    },
  }),
  TeamRequest: request('What to send with a team key. Unknown fields are ignored, and so is `team_id`.', { domains }),
  RegisterDomainsResponse: resultsOf('DomainResult', 'Totals'),
  DomainResult: { oneOf: [refer('RegisteredResult'), refer('InvalidResult')] },
  RegisteredResult: answer('The hostname is registered in the team.', {
    status: {
      ...text('`created`: registered by this call. `existing`: registered before, or twice in this call.'),
      enum: ['created', 'existing'],
    },
    input,
    domain,
    domainId: text('Identifies the registration: opaque, and the same as long as the hostname stays registered.'),
  }),
  InvalidResult: answer('Why nothing was done for the hostname.', invalid),
  Totals: answer('How many results have each status.', { created: count, existing: count, invalid: count }),
  PreviewDomainsResponse: resultsOf('PreviewResult', 'Totals'),
  PreviewResult: { oneOf: [refer('PreviewedResult'), refer('InvalidPreview')] },
  PreviewedResult: {
    ...answer('The hostname would be registered in the team.', {
      status: {
        ...text('`created`: would be registered. `existing`: is registered, or would be by this same call.'),
        enum: ['created', 'existing'],
      },
      input,
      domain,
      domainId: text('Identifies the registration, where there is one already.'),
    }),
    required: ['status', 'input', 'domain'],
  },
  InvalidPreview: {
    ...answer('Why the hostname would not be registered, with more than registering answers.', {
      ...invalid,
      ...details,
      reason: text('The code in more detail, for programs. New ones may be added.'),
      suggestion: text('The hostname to send instead, in canonical form, where it is certain what was meant.'),
      aLabels: text('The same name in A-labels, to send if the character that is refused is meant.'),
      rest: text('What is left without the mistake, if it cannot be registered either: a part of the input.'),
      conflicts: {
        type: 'array',
        items: { type: 'string' },
        maxItems: 3,
        description: 'The conflicting registrations of the same team, at most three.',
      },
      count: { type: 'integer', minimum: 1, description: 'How many there are; from 100 on, there may be more.' },
    }),
    required: [...Object.keys(invalid), 'reason'],
  },
  DeleteDomainsResponse: resultsOf('DeleteResult', 'DeleteTotals'),
  DeleteResult: { oneOf: [refer('DeletedResult'), refer('MissingResult'), refer('InvalidResult')] },
  DeletedResult: answer('The registration is deleted, and the hostname is free again.', {
    status: status('deleted'),
    input,
    domain,
    domainId: text('What identified the registration.'),
  }),
  MissingResult: answer(
    'The team has not registered the hostname, or has already deleted it; another team may have it.',
    {
      status: status('missing'),
      input,
    },
  ),
  DeleteTotals: answer('How many results have each status.', { deleted: count, missing: count, invalid: count }),
  ListDomainsResponse: answerOf('A page of registrations.', {
    domains: { type: 'array', maxItems: MAX_LIMIT, items: refer('ListedDomain') },
    next: { type: ['string', 'null'], description: 'To be sent as `after` for the next page; `null` at the end.' },
  }),
  ListedDomain: answer('A registration of the team.', {
    domain,
    domainId: text('Identifies the registration.'),
    createdAt: { ...text('When it was registered, in UTC (RFC 3339).'), format: 'date-time' },
  }),
  DomainsChanged: request('What has changed. Ignore unknown fields.', {
    type: status('domains.changed'),
    data: request('The changes.', { changes: { type: 'array', minItems: 1, items: refer('DomainChange') } }),
  }),
  DomainChange: request('A hostname was registered or released.', {
    kind: status('registered', 'released'),
    domainId: text('Identifies the registration. IDs are never reused.'),
    domain,
    registrableDomain: text('The registrable domain of the hostname; of an IP address, the address.'),
    teamId: text('The team that registered or released it.'),
    at: { ...text('When it was registered or released, in UTC (RFC 3339).'), format: 'date-time' },
  }),
  ErrorResponse: answer('The whole call failed.', {
    error: text('What went wrong, for programs: a code listed with the status, or one of this server alone.'),
    message: text('What went wrong and what to send instead, for a person.'),
  }),
}
