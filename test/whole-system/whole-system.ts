import { expect } from 'vitest'
import type { KeyRecord } from '../../src/index.ts'
import { generateApiKey } from '../../src/keys/api-key.ts'
import { eachRegistration } from '../../src/operations/each-registration.ts'
import { reconcile } from '../../src/operations/reconcile.ts'
import type { Registration } from '../../src/rules/registration.ts'
import { createWebhook } from '../../src/webhook/index.ts'
import { counts, seed } from '../counts.ts'
import { findFreePort } from '../free-port.ts'
import { ENDED, startNodes } from '../postgres/nodes.ts'
import { createRandom } from '../random.ts'
import { covers } from '../rules/brute-force.ts'
import { waitFor } from '../wait-for.ts'
import { createMonitorProcess, secret } from '../webhook/monitor-process.ts'
import { createReader } from './operator.ts'
import { type Owner, startOwner, type Tally } from './owners.ts'
import { LIMIT, type MonitorAddress } from './serve-node.ts'

/** The differences between the stores. */
export interface System {
  /** The program of a node. */
  readonly program: URL
  /** The runtime of a node. Default: the current one. */
  readonly execPath?: string | undefined
  /** Returns how the next node connects to the database. */
  nextConfig(): object
  /** Further settings of a node. */
  readonly settings?: object
  /** Whether the store can transfer and import. */
  readonly isComplete: boolean
  /** Kills the server of the database, and restarts it. */
  killDatabase?(pause: (most: number) => Promise<void>, random: ReturnType<typeof createRandom>): Promise<void>
  /**
   * Dumps the database while it is in use, and restores the dump as a new database. Resolves to the settings with which
   * a node connects to the new database.
   */
  restore?(): Promise<object>
}

/** Settings that a node gets in addition to its config. */
export interface SystemTask {
  readonly monitor: MonitorAddress
  /** Keys that the node adds when it starts. */
  readonly keys: readonly KeyRecord[]
}

const SERVERS = 3
const OWNERS = 8
/** The number of calls that compete for one team's limit before the owners continue with the next team. */
const CALLS_PER_LIMIT = 40
/** Milliseconds within which everything must be delivered and consistent at the end. */
const TO_REST = 120_000
const SETTLED = { timeout: TO_REST, interval: 50 }
const MINUTE = 60_000
const DURATION = counts.secondsOfKilling * 1000
/** Milliseconds for the whole test. */
export const TIME_LIMIT = DURATION + 5 * TO_REST

/**
 * Kills servers, the database and the monitor at random while owners make calls. Halfway, dumps the database while
 * owners make calls, restores the dump as a new database, and continues on the new one. At the end, the monitor must
 * watch exactly the registered names, and these must be the names that the responses reported.
 *
 * The seed decides which calls are made and what is killed, and when. The results of races may still differ.
 */
export async function expectNothingLost(system: System): Promise<void> {
  const random = createRandom(seed)
  const monitor = await createMonitorProcess(await findFreePort())
  await monitor.start()
  const { key, hash } = await generateApiKey({ type: 'organization', id: '10' })
  const scopes = ['domains:create', 'domains:delete']
  const keys = [{ hash, type: 'organization', ownerId: '10', scopes }] as const
  const task: SystemTask = { ...system.settings, monitor: { url: monitor.url, secret }, keys }
  const configs = Array.from({ length: SERVERS }, () => system.nextConfig())
  const nodes = await startNodes(configs, task, system.program, system.execPath).catch(async error => {
    await monitor.remove()
    throw error
  })
  const origins = nodes.all.map(({ origin }) => origin)
  const registry = createReader(origins[0] as () => string)
  let callsOfLimit = 0
  const limitedTeam = () => `4${Math.floor(callsOfLimit++ / CALLS_PER_LIMIT)}`
  const { isComplete } = system
  const owners = Array.from({ length: OWNERS }, (_, number) =>
    startOwner({ number, key, origins, random, isComplete, limitedTeam }),
  )
  const kills = { servers: 0, database: 0, monitor: 0 }
  const pause = (most: number) => new Promise<void>(resolve => setTimeout(resolve, random.integer(0, most)))

  /**
   * Kills each process repeatedly and independently, at random times. At the end, waits until all processes run again.
   */
  async function killEverything(milliseconds: number): Promise<void> {
    const end = performance.now() + milliseconds
    async function again(what: keyof typeof kills, longest: number, killAndStart: () => Promise<void>) {
      do {
        await pause(Math.min(longest, milliseconds))
        await killAndStart()
        kills[what] += 1
      } while (performance.now() < end)
    }
    const database = system.killDatabase?.bind(system, pause, random)
    await Promise.all([
      ...nodes.all.map(node =>
        again('servers', 15_000, async () => {
          await node.kill()
          await pause(500)
          // Acts as a supervisor: if a server exits because it finds no database, starts it again.
          for (let isUp = false; !isUp; ) isUp = await node.start().then(toTrue, toFalse)
        }),
      ),
      again('monitor', 15_000, async () => {
        await monitor.kill()
        await pause(1000)
        await monitor.start()
      }),
      ...(database ? [again('database', 20_000, database)] : []),
    ])
  }

  /** Continues on a restored dump, which lacks the latest calls. Follows the steps in docs/production.md. */
  async function moveToRestored(restore: () => Promise<object>): Promise<void> {
    for (const owner of owners) owner.mark()
    const config = await restore()
    await Promise.all(nodes.all.map(node => node.kill()))
    for (const owner of owners) owner.forget()
    await monitor.forgetReleased()
    await Promise.all(nodes.all.map(node => node.start(config)))
    const former = Object.keys(await monitor.watched())
    let corrections = 0
    await waitFor(async () => {
      corrections += await correctMonitor()
      const registered = new Set((await listAll()).map(({ domainId }) => domainId))
      const watched = Object.keys(await monitor.watched())
      // `reconcile` leaves out names whose changes are pending, so it may have to run several times.
      expect(watched.filter(id => former.includes(id) && !registered.has(id))).toEqual([])
    }, SETTLED)
    console.info(`Restored; the monitor was corrected ${corrections} times`)
  }

  async function correctMonitor(): Promise<number> {
    const push = createWebhook({ url: monitor.url, secret })
    const watched = Object.entries(await monitor.watched()).map(([domainId, domain]) => ({ domainId, domain }))
    let corrections = 0
    for await (const correction of reconcile(registry, watched.sort(byId))) {
      const { teamId = '', ...name } = correction.action === 'add' ? correction.registration : correction.watched
      const kind = correction.action === 'add' ? 'registered' : 'released'
      await push([{ registrableDomain: name.domain, ...name, teamId, kind, at: new Date() }])
      corrections += 1
    }
    return corrections
  }

  async function listAll(): Promise<Registration[]> {
    const registered: Registration[] = []
    for await (const each of eachRegistration(registry)) registered.push(each)
    return registered
  }

  const report = () => console.info({ kills, ...total(owners), SEED: seed })
  const reporting = setInterval(report, MINUTE)
  try {
    await waitFor(() => expect(total(owners).deleted).toBeGreaterThan(0), SETTLED)
    await killEverything(DURATION / 2)
    if (system.restore) await moveToRestored(() => system.restore?.() as Promise<object>)
    await killEverything(DURATION / 2)
    await Promise.all(owners.map(owner => owner.stop()))
    await waitFor(async () => expect(await registry.countPending()).toBe(0), SETTLED)

    const registered = await listAll()
    expect(await monitor.watched()).toEqual(Object.fromEntries(registered.map(each => [each.domainId, each.domain])))
    expect(findContradictions(owners, registered)).toEqual([])
    expect(findOverLimit(registered)).toEqual([])
    expect(findOverlaps(registered)).toEqual([])
    const tally = total(owners)
    report()
    console.info(`${DURATION / 1000} s of kills; ${registered.length} names are registered and watched`)
    for (const count of [kills.servers, kills.monitor, tally.created, tally.deleted, tally.failed]) {
      expect(count).toBeGreaterThan(0)
    }
    expect(nodes.failures).not.toContain(ENDED)
  } finally {
    clearInterval(reporting)
    await nodes.stop()
    await monitor.remove()
    await Promise.race([Promise.allSettled(owners.map(owner => owner.stop())), pause(1000)])
  }
}

const toTrue = () => true
const toFalse = () => false
const byId = (one: { domainId: string }, other: { domainId: string }) => (one.domainId < other.domainId ? -1 : 1)

function total(owners: readonly Owner[]): Tally {
  const [first, ...others] = owners.map(({ tally }) => tally)
  const sum = { ...(first as Tally) }
  for (const tally of others) {
    for (const [what, count] of Object.entries(tally)) sum[what as keyof Tally] += count
  }
  return sum
}

/** The differences between the registrations and what the owners' responses said. */
function findContradictions(owners: readonly Owner[], registered: readonly Registration[]): unknown[] {
  const byDomain = new Map(registered.map(each => [each.domain, each]))
  return owners.flatMap(({ told }) =>
    [...told].flatMap(([domain, held]) => {
      const found = byDomain.get(domain)
      const isTrue = held
        ? found?.teamId === held.teamId && (held.domainId ?? found.domainId) === found.domainId
        : found === undefined
      return isTrue ? [] : [{ domain, told: held, found }]
    }),
  )
}

function findOverLimit(registered: readonly Registration[]): unknown[] {
  const teams = new Map<string, number>()
  for (const { teamId } of registered) teams.set(teamId, (teams.get(teamId) ?? 0) + 1)
  return [...teams].filter(([teamId, count]) => teamId.startsWith('4') && count > LIMIT)
}

const findOverlaps = (registered: readonly Registration[]): string[] =>
  registered
    .filter(({ domain }) => domain.startsWith('*.'))
    .flatMap(wide => registered.flatMap(name => (covers(wide, name) ? `${wide.domain} covers ${name.domain}` : [])))
