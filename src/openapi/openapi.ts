import { DEFAULT_BODY_LIMIT, DEFAULT_OPERATIONS, DEFAULT_PATH, handlerRules, pathRule } from '../http/options.ts'
import type { OperationName } from '../http/request.ts'
import { operations as routes } from '../http/routes.ts'
import { DEFAULT_PREFIX } from '../keys/api-key.ts'
import { booleanRule, optional, type Rules, requireOptions } from '../options.ts'
import { describePaths, type Paths } from './operations.ts'
import { findUsedSchemas, type Schemas } from './schemas.ts'
import { webhooks as described, type Webhooks } from './webhooks.ts'

/** The parts of an OpenAPI document that are used here (https://spec.openapis.org/oas/v3.1.1.html), as in JSON. */
export interface OpenApiDocument<Path extends string = '/v1/domains', Name extends OperationName = 'create'> {
  openapi: '3.1.1'
  info: Info
  servers: Server[]
  tags: { name: string; description: string }[]
  paths: Paths<Path, Name>
  /** Present only with the option `webhooks`. */
  webhooks?: Webhooks
  components: { schemas: Schemas; securitySchemes: Record<string, SecurityScheme> }
}

/** A Security Scheme Object of OpenAPI: how a caller authenticates. */
export type SecurityScheme =
  | { type: 'http'; scheme: string; bearerFormat?: string; description?: string }
  | { type: 'apiKey'; name: string; in: 'query' | 'header' | 'cookie'; description?: string }
  | { type: 'oauth2' | 'openIdConnect' | 'mutualTLS'; [field: string]: unknown }

/** The provider and the terms of the API. */
export interface Info {
  title: string
  /** The version of the API, not of this package. */
  version: string
  summary?: string | undefined
  description?: string | undefined
  termsOfService?: string | undefined
  contact?: { name?: string | undefined; url?: string | undefined; email?: string | undefined } | undefined
  license?: { name: string; identifier?: string | undefined; url?: string | undefined } | undefined
}

/** A Server Object of OpenAPI: where the API is served. */
export interface Server {
  /** A URL without a trailing slash, absolute or relative to the URL of the document. */
  url: string
  description?: string | undefined
}

/** Options of {@link openapi}: the description of your API, and the handler's options that affect its responses. */
export interface OpenApiOptions<Path extends string = string, Name extends OperationName = OperationName> {
  /** Title, version, licence and contact of your API. Default: the title `Domain registration`, the version `1`. */
  info?: Partial<Info> | undefined
  /** The servers of the API. Default `/`: the server that serves the document. */
  servers?: Server[] | undefined
  /** The path of the operation, relative to the URL of a server. Default `/v1/domains`. */
  path?: Path | undefined
  /** The enabled operations, as passed to the handler. Default `['create']`. */
  operations?: readonly Name[] | undefined
  /** The prefix of API keys, as passed to the handler. Default `svc`. */
  keyPrefix?: string | undefined
  /**
   * The security schemes that callers may use if the handler has an `authenticate`; `[]` for none. If this is set, the
   * document does not mention API keys. Default: the API keys of organizations and of teams.
   */
  security?: Record<string, string[]>[] | undefined
  /** The security schemes that `security` names. Default: the API keys, if `security` is not set. */
  securitySchemes?: Record<string, SecurityScheme> | undefined
  /** The limit of a request body in bytes, as passed to the handler. Default 262,144. */
  bodyLimit?: number | undefined
  /** Whether the handler has a `rateLimiter`, so that the document includes 429. Default `true`. */
  rateLimited?: boolean | undefined
  /**
   * Whether the document describes `domains.changed`, the request that `createWebhook` sends to a monitor. Default
   * `false`.
   */
  webhooks?: boolean | undefined
}

const isPlainObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

const openapiRules: Rules = {
  info: { holds: optional(isPlainObject), expected: 'an object, such as { title: "Monitoring", version: "2.3" }' },
  servers: { holds: optional(Array.isArray), expected: 'an array, such as [{ url: "https://api.example.com" }]' },
  path: pathRule,
  operations: handlerRules.operations,
  keyPrefix: handlerRules.keyPrefix,
  security: {
    holds: optional(value => Array.isArray(value) && value.every(isPlainObject)),
    expected: 'an array of security requirements, such as [{ session: [] }]',
  },
  securitySchemes: {
    holds: optional(isPlainObject),
    expected: 'an object of security schemes, such as { session: { type: "apiKey", in: "cookie", name: "sid" } }',
  },
  bodyLimit: handlerRules.bodyLimit,
  rateLimited: booleanRule,
  webhooks: booleanRule,
}

/**
 * Creates an OpenAPI 3.1 document about `POST /v1/domains` and the other operations that you offer. The document has
 * every status, code, header and limit, and examples. Pass the same options as to the handler. Tests compare the
 * document with what the handler accepts and returns.
 *
 * @returns A new object at each call, which can be converted to JSON.
 * @throws {TypeError} if an option is invalid or unknown. The message says what to pass instead.
 *
 * @example
 * const document = openapi({ info: { title: 'Monitoring', version: '2.3' } })
 * app.get('/openapi.json', (request, response) => response.json(document))
 *
 * @example <caption>With your own sessions instead of API keys</caption>
 * const document = openapi({
 *   security: [{ session: [] }],
 *   securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'sid' } },
 * })
 *
 * @example <caption>The JSON Schemas of requests and responses, for your own validator</caption>
 * const { RegisterDomainsResponse, DomainResult } = openapi().components.schemas
 */
export function openapi<const Path extends string = typeof DEFAULT_PATH, Name extends OperationName = 'create'>(
  options: OpenApiOptions<Path, Name> = {},
): OpenApiDocument<Path, Name> {
  requireOptions(options, openapiRules)
  const {
    info,
    servers = [{ url: '/' }],
    path = DEFAULT_PATH,
    operations = DEFAULT_OPERATIONS,
    keyPrefix = DEFAULT_PREFIX,
    security = [{ organizationKey: [] }, { teamKey: [] }],
    securitySchemes = options.security ? {} : apiKeys(keyPrefix, operations),
    bodyLimit = DEFAULT_BODY_LIMIT,
    rateLimited = true,
    webhooks = false,
  } = options
  const knowsKeys = options.security === undefined
  const paths = describePaths(path, operations, { bodyLimit, rateLimited, security, knowsKeys })
  return structuredClone({
    openapi: '3.1.1',
    info: { title: 'Domain registration', version: '1', description, ...info },
    servers,
    tags: [{ name: 'Domains', description: 'The hostnames that a team has registered to be monitored.' }],
    paths: paths as Paths<Path, Name>,
    ...(webhooks && { webhooks: described }),
    components: { schemas: findUsedSchemas(webhooks ? { paths, described } : paths), securitySchemes },
  })
}

/** The API keys of the package, with the scopes that the operations need. */
function apiKeys(keyPrefix: string, offered: readonly OperationName[]): Record<string, SecurityScheme> {
  const needs = (scope: string) => `\`${scope}\` to ${offered.filter(name => routes[name].scope === scope).join(', ')}`
  const scopes = [...new Set(offered.map(name => routes[name].scope))].map(needs).join('; ')
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

const description = `Registers hostnames for a team, to be monitored.

A hostname can be registered only once. A wildcard \`*.example.com\` covers all names below \`example.com\`, \
at any depth, but not \`example.com\` itself. A name without \`*\` covers only itself. \
A hostname that overlaps with an existing registration is not registered.

Any call may be sent again, even if no response arrived: hostnames that it has registered are then \
\`existing\`, with the same \`domainId\`.`
