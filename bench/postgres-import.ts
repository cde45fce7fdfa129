/**
 * Compares importing a million registrations into PostgreSQL with a `COPY` of the same rows, into tables with the same
 * indexes.
 */
import { importDomains, type RegistrationToImport } from '../src/index.ts'
import { createPostgresStore, migrate } from '../src/postgres/index.ts'
import { createUuidGenerator } from '../src/runtime/uuid.ts'
import { startServer } from '../test/postgres/server.ts'
import { report, team, time } from './measure.ts'

const COUNT = 1_000_000
const TEAMS = 10
const PREFIXES = ['', 'www.', 'api.']

/** Two of every three names are below another registered name. */
function* registrations(): Generator<RegistrationToImport> {
  const createId = createUuidGenerator()
  const createdAt = new Date()
  for (let index = 0; index < COUNT; index += 1) {
    const registrableDomain = `n${Math.floor(index / PREFIXES.length)}.com`
    const domain = `${PREFIXES[index % PREFIXES.length]}${registrableDomain}`
    const teamId = String(Math.floor(index / PREFIXES.length) % TEAMS)
    yield { domainId: createId(), domain, registrableDomain, teamId, createdAt, synchronized: true }
  }
}

const flags = ['shared_buffers=4GB', 'max_wal_size=16GB', 'checkpoint_timeout=1h']
const server = await startServer(flags.flatMap(flag => ['-c', flag]))
const database = server.createPool({ max: 4, pipeline: true })
for (const schema of ['imported', 'copied']) await migrate({ database, schema })
const store = createPostgresStore({ database, schema: 'imported', findTeam: () => team })

const ofImport = await time(async () => {
  const { imported } = await importDomains(store, registrations())
  if (imported !== COUNT) throw new Error(`Imported ${imported}`)
})
const ofCopy = await copy()
const again = await time(() => importDomains(store, registrations()))
console.log(`imported in ${toSeconds(ofImport)}, copied in ${toSeconds(ofCopy)}, imported again in ${toSeconds(again)}`)
await server.stop()
report({ postgresImport: ofImport / ofCopy })

/** Copies the imported rows from a file on the server. */
async function copy(): Promise<number> {
  const { rows } = await database.query<{ folder: string }>("SELECT current_setting('data_directory') AS folder")
  const file = `${rows[0]?.folder}/names.copy`
  await database.query(`COPY (SELECT * FROM imported.names ORDER BY domain_id) TO '${file}'`)
  return time(() => database.query(`COPY copied.names FROM '${file}'`))
}

function toSeconds(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)} s`
}
