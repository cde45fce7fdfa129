/**
 * Compares previews of `*.amazonaws.com` in PostgreSQL with previews of wildcards below which nothing is registered.
 * Below the public suffix `s3.amazonaws.com`, a million names are registered, half of them by the calling team.
 */
import { previewDomains } from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { startServer } from '../test/postgres/server.ts'
import { compare, keyContext, newNames, report, team, time } from './measure.ts'

const server = await startServer()
const database = server.createPool({ max: 1, pipeline: true })
await migrate({ database })
const store = createPostgresStore({ database, findTeam: () => team })
await database.query(
  `INSERT INTO domain_registration.names
     (domain_id, created_at, second_level_domain, path, domain, registrable_domain, team_id)
   SELECT gen_random_uuid(), now(), 'amazonaws.com', '.s3.' || bucket, bucket || '.s3.amazonaws.com',
     bucket || '.s3.amazonaws.com', (1 + n % 2)::text
   FROM (SELECT n, 'bucket-' || n AS bucket FROM generate_series(1, 1000000) AS n) AS numbered`,
)

async function preview(domains: readonly string[]): Promise<number> {
  return time(async () => {
    for (const domain of domains) {
      const { data } = await previewDomains(keyContext, { domains: [domain] }, store)
      if (data.totals.created !== 1) throw new Error(`${domain} was already registered`)
    }
  })
}

const postgresWildcards = await compare(
  () => newNames().map(domain => `*.${domain}`),
  { warmUp: 3, rounds: 20 },
  free => preview(free.map(() => '*.amazonaws.com')),
  preview,
)
await server.stop()
report({ postgresWildcards })
