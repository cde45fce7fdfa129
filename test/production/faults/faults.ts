import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { fill } from '../../mount-small.ts'
import { noFault, silence } from '../../postgres/faulty-network.ts'
import { canMount, faketime } from './machine.ts'
import { APP, accepts, type World } from './world.ts'

/** A fault that a test makes under a running service, and what tells its operator. */
export interface Fault {
  readonly fault: string
  /** Alerts of `examples/alerts.yml`, of which the first one must fire; or why none does. */
  readonly alert: `DomainRegistration${string}` | `no: ${string}`
  /** What `doctor` says: a word of its output; or why it says nothing. */
  readonly doctor: string | RegExp
  /** The first cell of the fault's row in docs/runbook.md. */
  readonly row: string
  /** Why the fault cannot be made on this machine. */
  readonly skipped?: string | undefined
  make(world: World): Promise<unknown> | unknown
  undo(world: World): Promise<unknown> | unknown
}

/** Connections that a fault holds until it is undone. */
const held: pg.Client[] = []
async function hold(world: World, statement: string): Promise<void> {
  const client = new pg.Client(world.database.config)
  client.on('error', () => {})
  await client.connect()
  held.push(client)
  await client.query(statement)
}
async function letGo(): Promise<void> {
  await Promise.all(held.splice(0).map(client => client.end().catch(() => {})))
}

/** How to create the index again that a fault drops. */
let definition = ''

const unmounted = canMount ? undefined : 'this user may not mount a file system'

/** Writes the difference of a clock into a file, which programs read with libfaketime. @returns Its path. */
function setClock({ folder }: World, difference: string): string {
  const file = join(folder, 'clock')
  writeFileSync(file, difference)
  return file
}

export const faults: readonly Fault[] = [
  {
    fault: 'database stopped',
    alert: 'DomainRegistrationStoreSilent',
    doctor: 'connection',
    row: 'the database is stopped',
    make: world => world.database.killAll(),
    undo: world => world.database.start(),
  },
  {
    fault: 'database accepts connections and never responds',
    alert: 'DomainRegistrationStoreSilent',
    doctor: 'connection',
    row: 'the database does not respond',
    make: world => world.network.suffer(silence),
    undo: world => world.network.suffer(noFault),
  },
  {
    fault: 'database read-only',
    alert: 'DomainRegistrationFails',
    doctor: 'default_transaction_read_only',
    row: 'the database is read-only',
    async make(world) {
      await world.query('ALTER DATABASE service SET default_transaction_read_only = on')
      await world.endConnections()
    },
    async undo(world) {
      await world.query('BEGIN READ WRITE; ALTER DATABASE service RESET default_transaction_read_only; COMMIT')
      await world.endConnections()
    },
  },
  {
    fault: 'standby away, with synchronous replication',
    alert: 'DomainRegistrationFails',
    doctor: 'synchronous',
    row: 'a synchronous standby is away',
    async make(world) {
      await world.query("ALTER SYSTEM SET synchronous_standby_names = 'standby'")
      await world.query('SELECT pg_reload_conf()')
    },
    async undo(world) {
      await world.query('ALTER SYSTEM RESET synchronous_standby_names')
      await world.query('SELECT pg_reload_conf()')
    },
  },
  {
    fault: 'no connections left',
    alert: 'DomainRegistrationStoreSilent',
    doctor: 'connection',
    row: 'no connections are left',
    async make(world) {
      const setting = (name: string) => `current_setting('${name}')::int`
      const [{ free } = {}] = await world.query(
        `SELECT ${setting('max_connections')} - ${setting('superuser_reserved_connections')} AS free`,
      )
      await world.query(`ALTER ROLE ${APP.user} NOLOGIN`)
      await world.endConnections()
      for (let left = Number(free); left > 0; left -= 1) await hold(world, 'SELECT 1')
      await world.query(`ALTER ROLE ${APP.user} LOGIN`)
    },
    undo: letGo,
  },
  {
    fault: 'connection limit of the role below the pool',
    alert: 'no: what a limit of one connection leaves is slow, and does not fail',
    // The replicas may hold all three connections at that moment.
    doctor: /may have at most 3 connections|too many connections for role/,
    row: 'no connections are left',
    async make(world) {
      await world.query(`ALTER ROLE ${APP.user} CONNECTION LIMIT 3`)
      await world.endConnections()
    },
    undo: world => world.query(`ALTER ROLE ${APP.user} CONNECTION LIMIT -1`),
  },
  {
    fault: 'password changed',
    alert: 'DomainRegistrationStoreSilent',
    doctor: 'password',
    row: 'the password is wrong',
    async make(world) {
      await world.query(`ALTER ROLE ${APP.user} PASSWORD 'other'`)
      await world.endConnections()
    },
    undo: world => world.query(`ALTER ROLE ${APP.user} PASSWORD '${APP.password}'`),
  },
  {
    fault: 'table locked',
    alert: 'DomainRegistrationFails',
    doctor: 'locked',
    row: 'a table or a row is locked',
    make: world => hold(world, 'BEGIN; LOCK TABLE domain_registration.names'),
    undo: letGo,
  },
  {
    fault: 'rows locked by a session that does nothing',
    alert: 'DomainRegistrationFails',
    doctor: 'for a lock of session',
    row: 'a table or a row is locked',
    make: world => hold(world, 'BEGIN; SELECT FROM domain_registration.locks FOR UPDATE'),
    undo: letGo,
  },
  {
    fault: "database's disk full",
    alert: 'DomainRegistrationFails',
    doctor: 'No space left',
    row: 'the disk is full',
    skipped: unmounted,
    make: world => fill(String(world.disk)),
    undo: world => rmSync(join(String(world.disk), 'filling')),
  },
  {
    fault: 'certificate of the database expired',
    alert: 'DomainRegistrationStoreSilent',
    doctor: 'certificate has expired',
    row: 'a certificate is wrong',
    async make(world) {
      await world.certify('database', 'expired')
      await world.endConnections()
    },
    undo: world => world.certify('database', 'valid'),
  },
  {
    fault: 'privilege revoked',
    alert: 'DomainRegistrationFails',
    doctor: 'GRANT INSERT',
    row: 'the role lacks a privilege',
    make: world => world.query(`REVOKE INSERT ON domain_registration.names FROM ${APP.user}`),
    undo: world => world.query(`GRANT INSERT ON domain_registration.names TO ${APP.user}`),
  },
  {
    fault: 'index dropped',
    alert: 'no: calls are slower once there are many names, and none fails',
    doctor: 'names_of_team',
    row: 'tables are missing or changed',
    async make(world) {
      const index = "'domain_registration.names_of_team'::regclass"
      const [found] = await world.query(`SELECT pg_get_indexdef(${index}) AS definition`)
      definition = String(found?.definition)
      await world.query('DROP INDEX domain_registration.names_of_team')
    },
    undo: world => world.query(definition),
  },
  {
    fault: 'trigger of somebody else that skips rows',
    alert: 'DomainRegistrationFails',
    doctor: 'trigger',
    row: 'a trigger or a constraint of yours rejects rows',
    make: world =>
      world.query(`CREATE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RETURN NULL; END$$;
        CREATE TRIGGER skip BEFORE INSERT ON domain_registration.names FOR EACH ROW EXECUTE FUNCTION skip()`),
    undo: world => world.query('DROP FUNCTION skip() CASCADE'),
  },
  {
    fault: 'trigger of somebody else that raises',
    alert: 'DomainRegistrationFails',
    doctor: 'trigger',
    row: 'a trigger or a constraint of yours rejects rows',
    make: world =>
      world.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN RAISE 'no'; END$$;
        CREATE TRIGGER refuse BEFORE INSERT ON domain_registration.names FOR EACH ROW EXECUTE FUNCTION refuse()`),
    undo: world => world.query('DROP FUNCTION refuse() CASCADE'),
  },
  {
    fault: 'constraint of somebody else that rejects some names',
    alert: 'DomainRegistrationLosesNames',
    doctor: 'constraint',
    row: 'a trigger or a constraint of yours rejects rows',
    make: world =>
      world.query(`ALTER TABLE domain_registration.names ADD CONSTRAINT no_org CHECK (domain !~ 'org$') NOT VALID`),
    undo: world => world.query('ALTER TABLE domain_registration.names DROP CONSTRAINT no_org'),
  },
  {
    fault: 'table dropped',
    alert: 'DomainRegistrationFails',
    doctor: 'tables',
    row: 'tables are missing or changed',
    make: world => world.query('ALTER TABLE domain_registration.locks RENAME TO lost'),
    undo: world => world.query('ALTER TABLE domain_registration.lost RENAME TO locks'),
  },
  {
    fault: 'monitor stopped',
    alert: 'DomainRegistrationNotSynchronized',
    doctor: 'pending',
    row: 'the monitor is unavailable',
    async make({ monitor }) {
      monitor.server.closeAllConnections()
      await new Promise(resolve => monitor.server.close(resolve))
    },
    async undo({ monitor }) {
      await once(monitor.server.listen(monitor.port, '127.0.0.1'), 'listening')
    },
  },
  {
    fault: 'monitor never responds',
    alert: 'DomainRegistrationNotSynchronized',
    doctor: 'pending',
    row: 'the monitor is slow',
    make({ monitor }) {
      monitor.mode = () => 'silence'
    },
    undo({ monitor }) {
      monitor.server.closeAllConnections()
      monitor.mode = accepts
    },
  },
  {
    fault: 'monitor slow, but it accepts all',
    alert: 'no: calls are slower, and none fails',
    doctor: 'no: no push has failed',
    row: 'the monitor is slow',
    make({ monitor }) {
      monitor.mode = () => sleep(1000, 204)
    },
    undo({ monitor }) {
      monitor.mode = accepts
    },
  },
  {
    fault: 'monitor refuses all changes',
    alert: 'DomainRegistrationRefused',
    doctor: 'refused',
    row: 'the monitor refuses changes',
    make({ monitor }) {
      monitor.mode = () => 422
    },
    undo({ monitor }) {
      monitor.mode = accepts
    },
  },
  {
    fault: 'certificate of the monitor expired',
    alert: 'DomainRegistrationNotSynchronized',
    doctor: 'certificate has expired',
    row: 'a certificate is wrong',
    make: world => world.certify('monitor', 'expired'),
    undo: world => world.certify('monitor', 'valid'),
  },
  {
    fault: 'resolver away',
    alert: 'DomainRegistrationNotSynchronized',
    doctor: 'getaddrinfo',
    row: 'a name cannot be resolved',
    skipped: unmounted,
    async make(world) {
      world.resolve('away')
      world.monitor.server.closeAllConnections()
    },
    undo: world => world.resolve('answers'),
  },
  {
    fault: "clock of the replicas' machine jumps by ten minutes",
    alert: 'DomainRegistrationRefused',
    doctor: 'was not sent in the last',
    row: 'a clock is wrong',
    skipped: faketime ? undefined : 'libfaketime is not installed (Debian: apt-get install libfaketime)',
    async make(world) {
      const env = {
        ...{ LD_PRELOAD: String(faketime), FAKETIME_TIMESTAMP_FILE: setClock(world, '+0') },
        ...{ FAKETIME_CACHE_DURATION: '1', FAKETIME_DONT_FAKE_MONOTONIC: '1' },
      }
      for (const index of world.replicas.keys()) await world.restart(index, { env })
      setClock(world, '+10m')
    },
    undo: world => setClock(world, '+0'),
  },
  {
    fault: 'monitor refuses one change',
    alert: 'DomainRegistrationRefused',
    doctor: 'refused',
    row: 'the monitor refuses changes',
    make({ monitor }) {
      let refused: string | undefined
      monitor.mode = changes => {
        refused ??= changes[0]?.domain
        return changes.some(({ domain }) => domain === refused) ? 422 : 204
      }
    },
    undo({ monitor }) {
      monitor.mode = accepts
    },
  },
  {
    fault: 'monitor refuses all changes of a team',
    alert: 'DomainRegistrationRefused',
    doctor: 'refused',
    row: 'the monitor refuses changes',
    make({ monitor }) {
      monitor.mode = changes => (changes.some(({ teamId }) => teamId === '2') ? 422 : 204)
    },
    undo({ monitor }) {
      monitor.mode = accepts
    },
  },
  {
    fault: 'secret of the webhook changed on one side',
    alert: 'DomainRegistrationRefused',
    doctor: '401',
    row: 'the monitor has a different secret',
    make({ monitor }) {
      monitor.secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
    },
    undo(world) {
      world.monitor.secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
    },
  },
  {
    fault: 'a replica killed',
    alert: 'no: Prometheus itself has `up == 0` for it',
    doctor: 'no: the other replica serves all calls',
    row: 'a server is killed, hangs or runs out of memory',
    make({ replicas: [replica] }) {
      replica?.child.kill('SIGKILL')
    },
    undo() {},
  },
  {
    fault: 'a replica out of memory',
    alert: 'no: Prometheus itself has `up == 0` for it',
    doctor: 'no: the other replica serves all calls',
    row: 'a server is killed, hangs or runs out of memory',
    async make({ replicas: [replica] }) {
      if (!replica) throw new Error('There is no replica')
      const { child, port } = replica
      execFileSync('prlimit', ['--pid', String(child.pid), '--as=1000000'])
      // It ends when it needs more memory, and is started again.
      const ask = () => fetch(`http://127.0.0.1:${port}/metrics`).then(response => response.text())
      while (child.exitCode === null && child.signalCode === null)
        await Promise.allSettled(Array.from({ length: 100 }, ask))
    },
    undo() {},
  },
  {
    fault: 'a replica frozen',
    alert: 'no: Prometheus itself has `up == 0` for it',
    doctor: 'no: the other replica serves all calls',
    row: 'a server is killed, hangs or runs out of memory',
    make({ replicas: [replica] }) {
      replica?.child.kill('SIGSTOP')
    },
    undo({ replicas: [replica] }) {
      replica?.child.kill('SIGCONT')
    },
  },
  {
    fault: 'commits take a tenth of a second',
    alert: 'no: calls are slower, and none fails',
    doctor: 'no: it measures nothing',
    row: 'the database is slow',
    async make(world) {
      await world.query('ALTER SYSTEM SET commit_siblings = 0')
      await world.query('ALTER SYSTEM SET commit_delay = 100000')
      await world.query('SELECT pg_reload_conf()')
    },
    async undo(world) {
      await world.query('ALTER SYSTEM RESET commit_delay')
      await world.query('SELECT pg_reload_conf()')
    },
  },
  {
    fault: 'disk of the log full',
    alert: 'no: calls are answered without a log',
    doctor: 'no: it sees the database',
    row: 'the disk of the log is full',
    make: world => world.restart(0, { output: '/dev/full' }),
    undo: world => world.restart(0),
  },
  {
    fault: 'suffix list old',
    alert: 'no: calls succeed, and names below newer suffixes are invalid',
    doctor: 'npm update tldts',
    row: 'the suffix list is old',
    async make(world) {
      world.installSuffixList('tldts-old')
      for (const index of world.replicas.keys()) await world.restart(index)
    },
    async undo(world) {
      world.installSuffixList('tldts')
      for (const index of world.replicas.keys()) await world.restart(index)
    },
  },
]
