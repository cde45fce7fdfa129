/** Structure rules that the linter cannot check. `structure.test.ts` checks them. */

/**
 * A file may import from its own folder and from lower layers, but not from the same layer or a higher one. The comment
 * above each layer says what its folders are for.
 */
export const layers: readonly (readonly string[])[] = [
  // Errors and how they are shown; how options are checked; what runtimes do differently.
  ['errors/', 'options.ts', 'runtime/'],
  // Deadlines, loops, caches, and lines in which teams take turns.
  ['time/'],
  // Requests to other services; halves that find the item that always fails.
  ['outgoing/', 'isolate.ts'],
  // What is a hostname, and what people mistake for one; API keys and their callers.
  ['hostname/', 'keys/'],
  // What a registration is, and which names may exist beside each other.
  ['rules/'],
  // Changes that are saved and not yet pushed to the monitor, and the sweeps that push them.
  ['outbox/'],
  // What a store is, and what all bundled stores share.
  ['store/'],
  // What only stores in SQL share.
  ['sql/'],
  // The JSON of requests and results; the bundled stores.
  ['wire/', 'memory/', 'postgres/', 'sqlite/'],
  // What applications call: a file for each operation.
  ['operations/'],
  // Operations over HTTP and those who call them; suites for authors of stores and monitors; ready-made functions to
  // pass: a push over HTTP, a check by DNS.
  ['http/', 'client/', 'testing/', 'webhook/', 'dns-verification/'],
  // The OpenAPI document; the custom element for a page.
  ['openapi/', 'element/', 'index.ts'],
  // The program for operators.
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
  // The lists of the element draw nothing.
  lit: { by: ['element/element.ts', 'element/views/'] },
  'lit/directives/keyed.js': { by: ['element/element.ts'] },
  'lit/directives/live.js': { by: ['element/views/'] },
  'lit/directives/ref.js': { by: ['element/views/'] },
  'lit/directives/repeat.js': { by: ['element/views/windowed-list.ts'] },
  express: { by: ['http/express.ts'], only: 'types' },
  fastify: { by: ['http/fastify.ts'], only: 'types' },
  'node:fs': { by: ['cli/'] },
  'node:module': { by: ['cli/'] },
  'node:path': { by: ['cli/'] },
  'node:readline': { by: ['cli/'] },
  'node:util': { by: ['cli/'] },
  'node:crypto': { by: ['runtime/sha256.ts'], only: 'types' },
  'node:diagnostics_channel': { by: ['runtime/tracing.ts'], only: 'types' },
  'node:dns/promises': { by: ['dns-verification/resolver.ts'], only: 'types' },
  'node:http': { by: ['http/'], only: 'types' },
  'node:stream': { by: ['http/node.ts'] },
  'node:http2': { by: ['http/node.ts'], only: 'types' },
}

/** Exports that no file imports, each with the reason why it is exported. */
export const exportedOnly: Readonly<Record<string, string>> = {
  'src/element/on-server.ts: HTMLElement': 'the build puts it in place of the global name',
  'src/element/on-server.ts: document': 'the build puts it in place of the global name',
  'src/postgres/statements/changes.ts: NewChange': 'TypeScript names it in the declaration of the statements',
  'src/sqlite/statements.ts: StatementText': 'TypeScript names it in the declarations of all statements',
}

/** The maximum length of a line, comments included. */
export const MOST_COLUMNS = 120
