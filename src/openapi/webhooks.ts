import { CANNOT_HANDLE, TRY_AGAIN } from '../webhook/create-webhook.ts'
import { ID, SIGNATURE, TIMESTAMP } from '../webhook/signature.ts'
import type { Operation } from './operations.ts'
import type { OpenApiResponse } from './responses.ts'
import { type JsonSchema, refer } from './schemas.ts'

/** The request that a monitor gets, and the meanings of its responses. */
export interface Webhooks {
  'domains.changed': {
    post: Pick<Operation, 'operationId' | 'summary' | 'description' | 'tags' | 'security' | 'requestBody'> & {
      parameters: {
        name: string
        in: 'header'
        required: true
        description: string
        schema: JsonSchema
        example: string
      }[]
      /** By status or range: `2XX`. */
      responses: Record<string, Pick<OpenApiResponse, 'description'> & Partial<Pick<OpenApiResponse, 'headers'>>>
    }
  }
}

/** The example secret of the Standard Webhooks documentation. */
const EXAMPLE_SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

const change = {
  kind: 'registered',
  domainId: '01a1fdc4-24dc-7291-9bdf-caca67ce70da',
  domain: 'www.example.com',
  registrableDomain: 'example.com',
  teamId: '1',
  at: '2026-01-02T03:04:05.678Z',
}
const body = {
  type: 'domains.changed',
  data: { changes: [change, { ...change, kind: 'released', at: '2026-01-02T03:04:06.789Z' }] },
}

const SIGNATURE_PATTERN = 'v1,[A-Za-z0-9+/]{43}='

const header = (name: string, description: string, schema: JsonSchema, example: string) =>
  ({ name, in: 'header', required: true, description, schema: { type: 'string', ...schema }, example }) as const

const parameters = [
  header(
    ID,
    'The ID of the message, which is the same if the same changes are sent together again.',
    { pattern: '^msg_[0-9a-f]{32}$' },
    'msg_6881afb012ca534213014253c24f136b',
  ),
  header(
    TIMESTAMP,
    'The time at which this request was sent, in seconds since 1970.',
    { pattern: '^[0-9]{1,12}$' },
    '1767323047',
  ),
  header(
    SIGNATURE,
    'For each secret, the HMAC-SHA256 of ID, timestamp and body as sent, joined by full stops.',
    { pattern: `^${SIGNATURE_PATTERN}( ${SIGNATURE_PATTERN})*$` },
    'v1,eUyqif9gWteF2gIjODEnNzZX2GpgfaGo7WlJhGPtlbE=',
  ),
]

const refused = { description: 'The monitor refuses one or more of the changes, and the sender finds out which ones.' }
const unavailable = {
  description: 'The monitor is unavailable. The changes are sent again later.',
  headers: {
    'Retry-After': {
      description: 'The number of seconds to wait, or the date until which to wait.',
      schema: { type: 'string' },
      example: '120',
    },
  },
}

/**
 * The requests that `createWebhook` sends to a monitor. A single status takes precedence over the range that contains
 * it.
 */
export const webhooks: Webhooks = {
  'domains.changed': {
    post: {
      operationId: 'domainsChanged',
      summary: 'Notify the monitor of registered and released hostnames',
      description: `Sends changes that the monitor has not accepted yet, signed according to Standard Webhooks 1.0.

A change can arrive several times, and changes can arrive in any order. Compare \`domainId\`, \
and ignore \`registered\` after \`released\` of the same ID.

The signature in the example is made with the secret \`${EXAMPLE_SECRET}\` from the body as JSON without \
white space.`,
      tags: ['Domains'],
      security: [],
      parameters,
      requestBody: {
        description: 'JSON in UTF-8. Verify the signature of the bytes as they arrived, before you parse them.',
        required: true,
        content: {
          'application/json': {
            schema: refer('DomainsChanged'),
            examples: { changes: { summary: 'A hostname is registered, and released a second later', value: body } },
          },
        },
      },
      responses: {
        '2XX': { description: 'The monitor has saved all changes.' },
        '3XX': unavailable,
        '4XX': refused,
        '5XX': unavailable,
        ...Object.fromEntries(TRY_AGAIN.map(status => [status, unavailable])),
        ...Object.fromEntries(CANNOT_HANDLE.map(status => [status, refused])),
      },
    },
  },
}
