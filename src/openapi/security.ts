import { DEFAULT_OPERATIONS } from '../http/options.ts'
import type { OperationName } from '../http/request.ts'
import { operations } from '../http/routes.ts'
import { DEFAULT_PREFIX } from '../keys/api-key.ts'
import { optional, type Rules } from '../options.ts'
import type { SecurityScheme } from './document.ts'

export const isPlainObject = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const securityRules = {
  security: {
    holds: optional(value => Array.isArray(value) && value.every(isPlainObject)),
    expected: 'an array of security requirements, such as [{ session: [] }]',
  },
  securitySchemes: {
    holds: optional(isPlainObject),
    expected: 'an object of security schemes, such as { session: { type: "apiKey", in: "cookie", name: "sid" } }',
  },
} as const satisfies Rules

/** The API keys of the package, with the scopes that the operations need. */
export function apiKeys(
  keyPrefix = DEFAULT_PREFIX,
  offered: readonly OperationName[] = DEFAULT_OPERATIONS,
): Record<string, SecurityScheme> {
  const needs = (scope: string) =>
    `\`${scope}\` to ${offered.filter(name => operations[name].scope === scope).join(', ')}`
  const scopes = [...new Set(offered.map(name => operations[name].scope))].map(needs).join('; ')
  const toScheme = (word: string, whose: string): SecurityScheme => ({
    type: 'http',
    scheme: 'bearer',
    bearerFormat: `${keyPrefix}_${word}_<digits>_<secret>`,
    description: `${whose} Scopes: ${scopes}.`,
  })
  return {
    organizationKey: toScheme('org', 'The key of an organization. `team_id` names one of its teams.'),
    teamKey: toScheme('team', 'The key of a team. Calls with this key act on that team.'),
  }
}
