import { REQUIRED_SCOPE } from '../keys/key-context.ts'
import type { Header } from './document.ts'

const seconds = { type: 'integer', minimum: 1 }

/** Patterns of a string and a list (RFC 9651, sections 3.3.3 and 3.1): the name of a limit, and several limits. */
const limitName = '"([^"\\\\]|\\\\["\\\\])+"'
const listOf = (member: string) => `^${member}(, ${member})*$`

/** The header fields of answers. A field becomes `required` if every answer of a status carries it. */
export const headers = {
  'Cache-Control': {
    description: 'An answer is for its caller alone (RFC 9111, section 5.2.2.5).',
    schema: { type: 'string', const: 'no-store' },
  },
  'WWW-Authenticate': {
    description: 'How to prove who is calling (RFC 6750, section 3).',
    schema: {
      type: 'string',
      enum: ['Bearer', 'Bearer error="invalid_token"', `Bearer error="insufficient_scope", scope="${REQUIRED_SCOPE}"`],
    },
  },
  Allow: {
    description: 'The method that is allowed (RFC 9110, section 10.2.1).',
    schema: { type: 'string' },
    example: 'POST',
  },
  'Retry-After': {
    description: 'After how many seconds to send the call again (RFC 9110, section 10.2.3).',
    schema: seconds,
    example: 42,
  },
  'RateLimit-Policy': {
    description:
      'How many calls a key may make (`q`) in how many seconds (`w`), where a limit is set ' +
      '(draft-ietf-httpapi-ratelimit-headers-11).',
    schema: { type: 'string', pattern: listOf(`${limitName};q=[0-9]+(;w=[0-9]+)?`) },
    example: '"default";q=100;w=60',
  },
  RateLimit: {
    description:
      'How many calls remain (`r`) for how many seconds (`t`), where a limit is set ' +
      '(draft-ietf-httpapi-ratelimit-headers-11).',
    schema: { type: 'string', pattern: listOf(`${limitName};r=[0-9]+(;t=[0-9]+)?`) },
    example: '"default";r=99;t=60',
  },
} as const satisfies Record<string, Header>

export type HeaderName = keyof typeof headers
