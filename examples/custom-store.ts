/** A store of your own, here over SQLite: copy it, and let `domain-registration/testing` prove what you make of it. */
import {
  type Awaitable,
  type Below,
  type Change,
  classifyHostname,
  type DomainStore,
  type Name,
  type Registration,
  type Team,
} from 'domain-registration'
import { Database, type JSValue } from 'node-sqlite3-wasm'

const schema = `
  PRAGMA busy_timeout = 5000;
  CREATE TABLE IF NOT EXISTS registrations (
    position INTEGER PRIMARY KEY,
    registrable_domain TEXT NOT NULL,
    path TEXT NOT NULL, -- the labels from right to left, so that what is below a name stands together
    domain TEXT NOT NULL,
    domain_id TEXT NOT NULL UNIQUE,
    team_id TEXT NOT NULL,
    synchronized INTEGER NOT NULL,
    UNIQUE (registrable_domain, path)
  );
  CREATE INDEX IF NOT EXISTS by_team ON registrations (registrable_domain, team_id, path);`

const columns = `domain_id AS domainId, domain, registrable_domain AS registrableDomain, team_id AS teamId,
  synchronized`
// "." and "/" are neighbours: the range holds what goes on after a dot, and nothing else.
const isBelow = `registrable_domain = ?1 AND path > ?2 || '.' AND path < ?2 || '/'`
const isName = 'registrable_domain = ?1 AND path = ?2'

export interface SqliteStoreOptions {
  /** A file, which is made if it is not there, or `:memory:`. */
  file: string
  /** Teams are yours: look them up where you keep them. */
  findTeam: (teamId: string) => Awaitable<Team | null>
  /** Pushes registrations to what does the monitoring; must be idempotent on `domainId`. */
  synchronize?: ((changes: readonly Change[]) => Awaitable<unknown>) | undefined
}

export function createSqliteStore({ file, findTeam, synchronize: push }: SqliteStoreOptions) {
  const database = new Database(file)
  database.exec(schema)

  function prepare<Row>(sql: string) {
    const statement = database.prepare(sql)
    return (...values: JSValue[]) => statement.all(values) as Row[]
  }
  const select = prepare<Row>(`SELECT ${columns} FROM registrations WHERE ${isName}`)
  const selectOwnBelow = prepare<Name>(`SELECT domain FROM registrations WHERE ${isBelow} AND team_id = ?3 LIMIT 1000`)
  const selectBelow = prepare(`SELECT 1 FROM registrations WHERE ${isBelow} LIMIT 1`)
  const insert = prepare(
    `INSERT INTO registrations (registrable_domain, path, domain, domain_id, team_id, synchronized)
     VALUES (?, ?, ?, ?, ?, ?)`,
  )
  const mark = prepare('UPDATE registrations SET synchronized = 1 WHERE domain_id = ?')
  const remove = prepare<Row>(`DELETE FROM registrations WHERE ${isName} AND team_id = ?3 RETURNING ${columns}`)

  /** All of it or nothing, and nobody else in between, other processes included. */
  function transact<T>(work: () => T): T {
    database.exec('BEGIN IMMEDIATE')
    try {
      const result = work()
      database.exec('COMMIT')
      return result
    } catch (error) {
      if (database.inTransaction) database.exec('ROLLBACK')
      throw error
    }
  }

  function findBelow(base: Name, teamId: string): Below {
    const own = selectOwnBelow(...keyOf(base), teamId)
    return {
      ownDomains: own.slice(0, 3).map(({ domain }) => domain),
      ownCount: own.length,
      heldByOthers: own.length === 0 && selectBelow(...keyOf(base)).length > 0,
    }
  }

  async function synchronize(registrations: readonly Registration[]): Promise<void> {
    await push?.(registrations.map(({ synchronized, ...rest }) => ({ ...rest, kind: 'registered' })))
    transact(() => registrations.forEach(({ domainId }) => void mark(domainId)))
  }

  return {
    findTeam,
    register: ({ teamId, names, wildcardBases, decide }) =>
      transact(() => {
        const registrations = names.flatMap(name => select(...keyOf(name)).map(toRegistration))
        const found = { registrations, below: wildcardBases.map(base => findBelow(base, teamId)) }
        const saved = decide(found).map(({ domain, registrableDomain }) => {
          const domainId = crypto.randomUUID()
          const synchronized = push === undefined
          insert(...keyOf({ domain, registrableDomain }), domain, domainId, teamId, synchronized)
          return { domainId, domain, registrableDomain, teamId, synchronized }
        })
        return { found, saved }
      }),
    ...(push && { synchronize }),

    /** Gives up names of a team, so that they are free again. */
    release: (teamId: string, domains: readonly string[]): Registration[] =>
      transact(() =>
        domains
          .map(domain => classifyHostname(domain))
          .filter(hostname => hostname.valid)
          .flatMap(hostname => remove(...keyOf(hostname), teamId).map(toRegistration)),
      ),
    close: () => database.close(),
  } satisfies DomainStore & Record<string, unknown>
}

type Row = Omit<Registration, 'synchronized'> & { synchronized: number }

const toRegistration = (row: Row): Registration => ({ ...row, synchronized: row.synchronized === 1 })

const keyOf = ({ domain, registrableDomain }: Name) =>
  [registrableDomain, domain.split('.').reverse().join('.')] as const
