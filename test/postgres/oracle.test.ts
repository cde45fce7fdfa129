import type { Socket } from 'node:net'
import type { Pool, PoolClient } from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { registerDomains, transfer } from '../../src/index.ts'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import type { RegistrationRequest } from '../../src/store/contract.ts'
import { counts, seed } from '../counts.ts'
import { createRandom } from '../random.ts'
import { covers } from '../rules/brute-force.ts'
import { openDatabase } from './server.ts'

/*
 * Calls under faults, checked against what happened: triggers write each change of the names into another table, in the
 * transaction that makes it.
 */

const TEAMS = ['1', '2', '3']
const LIMITED = '2'
const LIMIT = 3
const DOMAINS = ['a.com', 'b.co.uk', 'c.org', 'd.net']
const LABELS = ['www.', 'a.b.', '*.', '*.a.']
const CALLERS = 9
const COMMITS_TO_A_CUT = 20

/** An error of each class that a trigger can raise (PostgreSQL documentation, appendix A). */
const CLASSES = [
  ...['01000', '02000', '03000', '08006', '09000', '0A000', '0B000', '0F000', '0LP01', '0P000', '0Z002', '10608'],
  ...['20000', '21000', '22023', '23514', '24000', '25006', '26000', '27000', '28000', '2BP01', '2D000', '2F005'],
  ...['34000', '38000', '39P01', '3B001', '3D000', '3F000', '40001', '42501', '44000', '53100', '54000', '55P03'],
  ...['57014', '58030', 'F0000', 'HV000', 'P0001', 'XX000'],
]
/** Errors after which a store does something else than after most of their class. */
const OTHERS = ['08003', '08P01', '23505', '25P03', '28P01', '40003', '40P01', '42P01', '42P05', '53300', '57P01']
const CODES = [...CLASSES, ...OTHERS]

/** Raises all codes in turn. A sequence counts in transactions that are rolled back, too. */
const AUDIT = `
  CREATE TABLE audit (place bigserial, what text, id text, domain text, team text);
  CREATE SEQUENCE faults;
  CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$
    DECLARE codes text[] := '{${CODES}}';
    BEGIN
      IF random() < 0.1 THEN
        RAISE EXCEPTION 'planned' USING ERRCODE = codes[1 + nextval('public.faults') % cardinality(codes)];
      END IF;
      RETURN NULL;
    END $$;
  CREATE TRIGGER fail AFTER INSERT OR UPDATE OR DELETE ON domain_registration.names
    FOR EACH ROW EXECUTE FUNCTION fail();
  CREATE CONSTRAINT TRIGGER fail_at_commit AFTER INSERT OR UPDATE OR DELETE ON domain_registration.names
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION fail();
  CREATE FUNCTION audit() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      IF TG_OP <> 'INSERT' THEN
        INSERT INTO audit (what, id, domain, team) VALUES ('released', OLD.domain_id, OLD.domain, OLD.team_id);
      END IF;
      IF TG_OP <> 'DELETE' THEN
        INSERT INTO audit (what, id, domain, team) VALUES ('registered', NEW.domain_id, NEW.domain, NEW.team_id);
      END IF;
      RETURN NULL;
    END $$;
  CREATE TRIGGER audit AFTER INSERT OR UPDATE OR DELETE ON domain_registration.names
    FOR EACH ROW EXECUTE FUNCTION audit()`

interface Audited {
  readonly what: 'registered' | 'released'
  readonly id: string
  readonly domain: string
  readonly team: string
}

function overlap(one: string, other: string): boolean {
  const [known, next] = [one, other].map(domain => ({
    domain,
    registrableDomain: DOMAINS.find(each => domain.endsWith(each)) ?? '',
  })) as [{ domain: string; registrableDomain: string }, { domain: string; registrableDomain: string }]
  return one === other || covers(known, next) || covers(next, known)
}

const toText = ({ what, id, domain, team }: Audited) => `${what} ${domain} for team ${team} with the ID ${id}`

/** Cuts the connection of a client as soon as a COMMIT has been sent, each time that `isCut` says so. */
function cutCommits(pool: Pool, isCut: () => boolean): void {
  pool.on('connect', (client: PoolClient) => {
    const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
    const query = client.query.bind(client) as (query: { text: string }) => Promise<unknown>
    client.query = ((sent: { text: string }) => {
      const answer = query(sent)
      if (sent.text === 'COMMIT' && isCut()) setImmediate(() => stream.destroy())
      return answer
    }) as never
  })
}

test(`under faults of all kinds, what calls are told is what happened (SEED=${seed})`, async () => {
  const random = createRandom(seed)
  const server = await openDatabase({ deadlock_timeout: '20ms' })
  onTestFinished(() => server.stop())
  const admin = server.createPool()
  await migrate({ database: admin })
  await admin.query(AUDIT)

  const told: Audited[] = []
  /** What releases and moves without a certain answer may have changed. */
  const possible = new Set<string>()
  /** The registrations of calls without a certain answer. */
  const unanswered = new Set<string>()
  /**
   * The IDs that failed requests to a store were about to save. A call repeats a failed request: until then, another
   * call may have released what the first request saved after all, so a certain answer need not name it.
   */
  const maybeSaved = new Set<string>()
  const toPossible = (what: string, domain: string, team: string) => `${what} ${domain} for team ${team}`
  const findTeam = (id: string) => ({
    ...{ id, organizationId: '1', state: 'active' as const },
    maxDomains: id === LIMITED ? LIMIT : null,
  })
  let commits = 0
  let cuts = 0
  const stores = [true, false, true].map(pipeline => {
    const pool = server.createPool({ max: 3, pipeline, application_name: 'caller' } as never)
    cutCommits(pool, () => {
      commits += 1
      const isCut = commits % COMMITS_TO_A_CUT === 0
      if (isCut) cuts += 1
      return isCut
    })
    const store = createPostgresStore({ database: pool, findTeam, timeLimit: 3000 })
    async function register(request: RegistrationRequest) {
      const ids: string[] = []
      const willSave = (domainIds: readonly string[]) => {
        ids.push(...domainIds)
        request.willSave?.(domainIds)
      }
      try {
        return await store.register({ ...request, willSave })
      } catch (error) {
        for (const id of ids) maybeSaved.add(id)
        throw error
      }
    }
    return { ...store, register }
  })
  let left = counts.callsUnderFaults
  let failed = 0
  const pickName = () => `${random.pick(LABELS)}${random.pick(DOMAINS)}`

  async function register(team: string): Promise<void> {
    const domains = Array.from({ length: random.integer(1, 4) }, pickName)
    const caller = { type: 'team', teamId: team, scopes: ['domains:create'] } as const
    try {
      const { data } = await registerDomains(caller, { domains }, random.pick(stores), { onError() {} })
      for (const result of data.results) {
        if (result.status === 'created' || result.status === 'existing')
          told.push({ what: 'registered', id: result.domainId, domain: result.domain, team })
        else if (result.status === 'invalid' && result.code === 'internal_error')
          unanswered.add(toPossible('registered', result.input, team))
      }
    } catch {
      failed += 1
      for (const domain of domains) unanswered.add(toPossible('registered', domain, team))
    }
  }

  async function release(team: string): Promise<void> {
    const domains = Array.from({ length: random.integer(1, 3) }, pickName)
    try {
      for (const { domainId: id, domain } of await random.pick(stores).release(team, domains))
        told.push({ what: 'released', id, domain, team })
    } catch {
      failed += 1
      for (const domain of domains) possible.add(toPossible('released', domain, team))
    }
  }

  async function move(from: string): Promise<void> {
    const to = random.pick(TEAMS.filter(team => team !== from))
    const domains = [pickName(), pickName()]
    try {
      for (const { domain, formerId, domainId } of await transfer(random.pick(stores), { from, to, domains })) {
        told.push({ what: 'released', id: formerId, domain, team: from })
        told.push({ what: 'registered', id: domainId, domain, team: to })
      }
    } catch {
      failed += 1
      for (const domain of domains) {
        possible.add(toPossible('released', domain, from))
        possible.add(toPossible('registered', domain, to))
      }
    }
  }

  async function call(): Promise<void> {
    while (left > 0) {
      left -= 1
      const act = random.pick([register, register, register, release, release, move])
      await act(random.pick(TEAMS))
    }
  }

  let ended = 0
  let locked = 0
  async function disturb(): Promise<void> {
    while (left > 0) {
      const end = random.pick(['pg_cancel_backend', 'pg_terminate_backend'])
      const { rowCount: endedNow } = await admin.query(
        `SELECT ${end}(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'caller' AND state <> 'idle'
         ORDER BY random() LIMIT 1`,
      )
      ended += endedNow ?? 0
      const { rowCount: lockedNow } = await admin.query(
        `SELECT pg_sleep(0.02) FROM domain_registration.${random.pick(['locks', 'names'])}
         ORDER BY random() LIMIT 1 FOR UPDATE SKIP LOCKED`,
      )
      locked += lockedNow ?? 0
    }
  }
  await Promise.all([disturb(), ...Array.from({ length: CALLERS }, call)])

  const { rows: audited } = await admin.query<Audited>('SELECT what, id, domain, team FROM audit ORDER BY place')
  const happened = new Set(audited.map(toText))
  expect(told.map(toText).filter(each => !happened.has(each))).toEqual([])
  const known = new Set(told.map(toText))
  const released = new Set(audited.flatMap(({ what, id }) => (what === 'released' ? id : [])))
  function isAccounted(each: Audited): boolean {
    const change = toPossible(each.what, each.domain, each.team)
    if (known.has(toText(each)) || possible.has(change)) return true
    return each.what === 'registered' && maybeSaved.has(each.id) && (unanswered.has(change) || released.has(each.id))
  }
  const unaccounted = audited.filter(each => !isAccounted(each))
  expect(unaccounted.map(toText)).toEqual([])

  const held = new Map<string, Audited>()
  for (const change of audited) {
    if (change.what === 'released') {
      expect(held.get(change.domain)?.id).toBe(change.id)
      held.delete(change.domain)
    } else {
      const others = [...held.values()].filter(({ domain }) => overlap(domain, change.domain))
      expect(others.map(toText), toText(change)).toEqual([])
      held.set(change.domain, change)
      const ofTeam = [...held.values()].filter(({ team }) => team === LIMITED).length
      if (change.team === LIMITED) expect(ofTeam).toBeLessThanOrEqual(LIMIT)
    }
  }
  const { rows: names } = await admin.query('SELECT domain_id::text AS id FROM domain_registration.names')
  expect(names.map(({ id }) => id).sort()).toEqual([...held.values()].map(({ id }) => id).sort())
  const { rows: faults } = await admin.query<{ raised: number }>('SELECT last_value::integer AS raised FROM faults')
  expect(faults[0]?.raised).toBeGreaterThanOrEqual(Math.min(CODES.length, counts.callsUnderFaults / 300))
  for (const count of [known.size, failed, cuts, ended, locked]) expect(count).toBeGreaterThan(0)
  expect(audited.length).toBeGreaterThan(known.size / 2)
})
