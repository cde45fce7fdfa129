/** Structure rules that the linter cannot check. `structure.test.ts` checks them. */

/**
 * A file may import from its own folder and from lower layers, but not from the same layer or a higher one.
 */
export const layers: readonly (readonly string[])[] = [
  ['errors/', 'options.ts', 'runtime/'],
  ['time/'],
  ['outgoing/', 'isolate.ts'],
  ['hostname/', 'keys/'],
  ['rules/'],
  ['outbox/'],
  ['store/'],
  ['wire/', 'memory/', 'postgres/', 'sqlite/'],
  ['operations/'],
  ['http/', 'testing/', 'client/', 'webhook/', 'dns-verification/'],
  ['openapi/', 'element/', 'index.ts'],
  ['cli/'],
]

/**
 * For each package, the files and folders of `src` that may import it, or only its types. No other file of `src` may
 * import the package.
 */
export const packages: Readonly<Record<string, { by: readonly string[]; only?: 'types' }>> = {
  'ipaddr.js': { by: ['hostname/address.ts'] },
  'punycode/punycode.js': { by: ['hostname/idna/labels.ts'] },
  tldts: { by: ['hostname/public-suffix.ts'] },
  'tldts/package.json': { by: ['hostname/suffix-list-version.ts'] },
  zod: { by: ['wire/', 'openapi/'] },
  lit: { by: ['element/'] },
  'lit/directives/live.js': { by: ['element/'] },
  'lit/directives/ref.js': { by: ['element/'] },
  'lit/directives/repeat.js': { by: ['element/windowed-list.ts'] },
  express: { by: ['http/express.ts'], only: 'types' },
  fastify: { by: ['http/fastify.ts'], only: 'types' },
  'node:fs': { by: ['cli/'] },
  'node:module': { by: ['cli/'] },
  'node:path': { by: ['cli/'] },
  'node:readline': { by: ['cli/'] },
  'node:util': { by: ['cli/'] },
  'node:crypto': { by: ['keys/sha256.ts'], only: 'types' },
  'node:diagnostics_channel': { by: ['runtime/tracing.ts'], only: 'types' },
  'node:dns/promises': { by: ['dns-verification/resolver.ts'], only: 'types' },
  'node:http': { by: ['http/'], only: 'types' },
  'node:stream': { by: ['http/node.ts'] },
  'node:http2': { by: ['http/node.ts'], only: 'types' },
}

/** The maximum length of a line, comments included. */
export const MOST_COLUMNS = 120
