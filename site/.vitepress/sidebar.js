import { readFileSync } from 'node:fs'

/** The paths of the pages in the repository, in reading order. */
const groups = [
  [
    'Try',
    [
      'docs/concepts.md',
      'site/pages/playground.md',
      'README.md',
      'docs/faq.md',
      'docs/hostnames.md',
      'docs/reasons.md',
      'docs/reasons-characters.md',
      'docs/reasons-pasted.md',
      'docs/showing-hostnames.md',
      'docs/standards.md',
    ],
  ],
  [
    'Mount',
    [
      'docs/your-server.md',
      'docs/your-server-limits.md',
      'docs/recipes/express.md',
      'docs/recipes/fastify.md',
      'docs/recipes/hono.md',
      'docs/recipes/nestjs.md',
      'docs/recipes/nextjs.md',
      'docs/recipes/sveltekit.md',
      'docs/recipes/workers.md',
      'docs/recipes/other-frameworks.md',
      'docs/recipes/openapi.md',
      'docs/recipes/admin.md',
      'docs/recipes/audit.md',
      'docs/recipes/testing.md',
    ],
  ],
  [
    'Choose a store',
    [
      'docs/stores.md',
      'docs/own-store.md',
      'docs/tables.md',
      'docs/sqlite.md',
      'docs/postgres.md',
      'docs/postgres-drivers.md',
      'docs/postgres-transaction.md',
      'docs/citus.md',
      'docs/recipes/mysql.md',
      'docs/recipes/drizzle.md',
      'docs/recipes/kysely.md',
      'docs/recipes/prisma.md',
    ],
  ],
  ['Keys', ['docs/keys.md', 'docs/recipes/sessions.md', 'docs/recipes/better-auth.md', 'docs/recipes/ids.md']],
  ['Call', ['docs/calls.md', 'docs/client.md', 'docs/client-more.md', 'docs/errors.md']],
  [
    'Monitor',
    ['docs/monitoring.md', 'docs/monitoring-failures.md', 'docs/webhook.md', 'docs/monitoring-serverless.md'],
  ],
  [
    'Run',
    [
      'docs/operations.md',
      'docs/postgres-growth.md',
      'docs/cli.md',
      'docs/cli-keys.md',
      'docs/cli-registrations.md',
      'docs/cli-doctor.md',
      'docs/doctor-checks.md',
      'docs/runbook.md',
      'docs/messages.md',
      'docs/messages-sqlite.md',
      'docs/messages-monitor.md',
      'docs/messages-callers.md',
      'docs/metrics.md',
      'docs/proof.md',
      'SECURITY.md',
    ],
  ],
  ['Change', ['docs/recipes/teams.md', 'docs/recipes/moving.md', 'docs/upgrades.md', 'CHANGELOG.md']],
  ['Find', ['docs/README.md', 'AGENTS.md', 'CONTRIBUTING.md']],
]

const { exports } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'))

/** A page for each entry point of package.json. It has the path of the source: `http/express.md`, `store.md`. */
const reference = Object.entries(exports).flatMap(([entry, { import: module }]) => {
  if (!module) return []
  const [, source] = /^\.\/dist\/types\/esm\/(.+?)(?:\/index)?\.d\.ts$/.exec(module.types)
  return [{ path: `site/reference/${source}.md`, text: entry === '.' ? 'domain-registration' : `…${entry.slice(1)}` }]
})

/**
 * Creates the sidebar.
 *
 * @param {(path: string) => string} readTitle Returns the title of a page for the sidebar.
 */
export function createSidebar(readTitle) {
  const guides = groups.map(([text, paths]) => ({
    text,
    items: paths.map(path => ({ path, text: readTitle(path) })),
  }))
  return [...guides, { text: 'Reference', items: reference }]
}
