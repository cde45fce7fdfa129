import { transfer } from '../operations/transfer.ts'
import type { Change, Registration, TransferredRegistrations } from '../registry/store.ts'
import { attempt, countHeld, lookUp, manyDomains, methodOf, save, submitForCodes } from './calls.ts'
import { checkEqual, checkThat } from './check.ts'
import { createMonitor, runSweep, SOON, sweepUntil, synchronize } from './monitor.ts'
import type { CaseDefinition } from './store-case.ts'
import type { SuiteStore } from './suite-store.ts'

const transferFrom = async (
  store: SuiteStore,
  teams: readonly [from: string, to: string],
  domains: readonly string[],
  decide: (found: TransferredRegistrations['found']) => boolean = () => true,
) => methodOf(store, 'transfer')({ from: teams[0], to: teams[1], domains, counted: true, decide })

const soon = { synchronizeTimeLimit: SOON }

const teamsOf = async (store: SuiteStore, domains: readonly string[]) =>
  (await lookUp(store, '1', domains)).registrations.map(({ teamId }) => teamId)

/** Whether the monitor had to forget an ID before it got the new one. */
const isForgottenFirst = (accepted: readonly Change[], former: Registration, registration: Registration) => {
  const indexOf = (kind: Change['kind'], { domainId }: Registration) =>
    accepted.findIndex(change => change.kind === kind && change.domainId === domainId)
  const [released, registered] = [indexOf('released', former), indexOf('registered', registration)]
  return released >= 0 && (registered < 0 || registered > released)
}

export const transferCases: readonly CaseDefinition[] = [
  {
    id: 'transfers-what-a-team-holds',
    name: 'MUST transfer what the team holds of names and IDs, with new IDs, and pass the rest over',
    async test({ open }) {
      const store = await open()
      const [first, second] = (await save(store, '1', ['a.com', 'b.com', '*.c.com', 'd.com'])) as Registration[]
      await save(store, '3', ['x.com'])
      const asked = [first?.domainId ?? '', 'B.com.', '*.c.com', 'x.com', 'y.com', 'not a name']
      const { found, saved } = await transferFrom(store, ['1', '2'], asked)
      const domains = ['a.com', 'b.com', '*.c.com', 'd.com', 'x.com']
      const after = (await lookUp(store, '1', domains)).registrations
      checkEqual('the teams', await teamsOf(store, domains), ['2', '2', '2', '1', '3'])
      checkEqual(
        'what was found, as it was before',
        found.registrations.map(({ domain, teamId }) => [domain, teamId]).toSorted(),
        ['*.c.com', 'a.com', 'b.com'].map(domain => [domain, '1']),
      )
      checkEqual(
        'what is held then, in the order of what was found',
        saved,
        found.registrations.map(({ domain }) => after.find(each => each.domain === domain)),
      )
      const former = [first, second].map(each => each?.domainId)
      checkThat('each has a new ID', !after.slice(0, 3).some(each => former.includes(each.domainId)), after)
    },
  },
  {
    id: 'transfer-counts',
    name: 'MUST count what the new team holds for a transfer, and transfer nothing if `decide` returns false',
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['a.com', 'b.com'])
      await save(store, '2', ['c.com'])
      const { found, saved } = await transferFrom(store, ['1', '2'], ['a.com', 'b.com'], () => false)
      checkEqual('what the new team holds', found.held, 1)
      checkEqual('what was saved', saved, [])
      checkEqual('the teams', await teamsOf(store, ['a.com', 'b.com']), ['1', '1'])
    },
  },
  {
    id: 'transfer-keeps-names-watched',
    name: 'MUST push the release of a former ID after the registration of the new one, whatever is refused',
    async test({ open }) {
      const monitor = createMonitor()
      let refuses = true
      const store = await open(changes => {
        if (refuses && changes.some(each => each.domain === 'b.com' && each.kind === 'registered'))
          throw new Error('b.com is refused, on purpose')
        monitor.push(changes)
      }, soon)
      const domains = manyDomains(20)
      refuses = false
      await synchronize(store, await save(store, '1', [...domains, 'b.com']))
      refuses = true
      const { found, saved } = await transferFrom(store, ['1', '2'], [...domains, 'b.com'])
      const isTold = ({ domainId }: Registration) => monitor.accepted.some(change => change.domainId === domainId)
      const isForgotten = ({ domain, domainId }: Registration) =>
        domain === 'b.com' || monitor.accepted.some(each => each.kind === 'released' && each.domainId === domainId)
      await sweepUntil(store, 'all but one are followed', () => found.registrations.every(isForgotten))
      for (let sweeps = 0; sweeps < 3; sweeps += 1) await runSweep(store)
      const first = saved.filter((each, index) =>
        isForgottenFirst(monitor.accepted, found.registrations[index] as Registration, each),
      )
      checkEqual('the names that were forgotten first', first, [])
      const later = saved.find(({ domain }) => domain === 'b.com') as Registration
      checkThat('what is refused has not been told', !isTold(later), later)
      checkThat('what is refused is watched for the former team', monitor.watched().includes('b.com for team 1'), later)
      refuses = false
      await sweepUntil(store, 'the new team alone is watched for', () =>
        monitor.watched().every(each => each.endsWith(' for team 2')),
      )
      checkEqual('how much is watched', monitor.watched().length, saved.length)
    },
  },
  {
    id: 'transfer-of-what-is-pending',
    name: 'MUST push the release of a first ID after the registration of the last, if it is transferred twice',
    async test({ open }) {
      const monitor = createMonitor()
      const store = await open(monitor.push, soon)
      await synchronize(store, await save(store, '1', ['a.com']))
      const first = await transferFrom(store, ['1', '2'], ['a.com'])
      const second = await transferFrom(store, ['2', '3'], ['a.com'])
      const isLast = () => monitor.watched().join() === 'a.com for team 3'
      await sweepUntil(store, 'the last team alone is watched for', isLast)
      const [former] = first.found.registrations as [Registration]
      const [last] = second.saved as [Registration]
      checkThat('it was always watched', !isForgottenFirst(monitor.accepted, former, last), monitor.accepted)
      await sweepUntil(store, 'nothing is pending', async () => (await methodOf(store, 'countPending')()) === 0)
    },
  },
  {
    id: 'transfer-and-release',
    name: 'MUST push the release of a former ID too if the new one is released before it was pushed',
    async test({ open }) {
      const monitor = createMonitor()
      const store = await open(monitor.push, soon)
      await synchronize(store, await save(store, '1', ['a.com']))
      await transferFrom(store, ['1', '2'], ['a.com'])
      await methodOf(store, 'release')('2', ['a.com'])
      await sweepUntil(store, 'nothing is watched', () => monitor.watched().length === 0)
      await sweepUntil(store, 'nothing is pending', async () => (await methodOf(store, 'countPending')()) === 0)
    },
  },
  {
    id: 'race-of-transfers',
    name: 'MUST give a name to one team only, if transfers and calls of others want it at the same moment',
    async test({ open }) {
      const store = await open()
      for (const domain of manyDomains(8)) {
        await save(store, '1', [domain])
        const [one, other, { codes }] = await Promise.all([
          transferFrom(store, ['1', '2'], [domain]),
          transferFrom(store, ['1', '3'], [domain]),
          attempt(store, '4', [domain, `*.${domain}`, `x.${domain}`]),
        ])
        checkEqual(`how often "${domain}" was transferred`, one.saved.length + other.saved.length, 1)
        checkEqual('what another team gets meanwhile', codes[0], 'domain_already_licensed')
        const held = await methodOf(store, 'list')({ domain })
        checkEqual('what is held then', toPairs(held), toPairs([...one.saved, ...other.saved]))
      }
    },
  },
  {
    id: 'race-of-transfers-under-a-limit',
    name: 'MUST serialize transfers to a team with a limit and calls of that team',
    async test({ open }) {
      const store = await open()
      const domains = manyDomains(8)
      await save(store, '1', domains)
      const attempts = [
        ...domains.map(domain => () => transfer(store, { from: '1', to: '4', domains: [domain] })),
        ...manyDomains(8, 'new.').map(domain => () => submitForCodes(store, '4', [domain])),
      ]
      await Promise.allSettled(attempts.map(each => each()))
      checkEqual('what the team holds then', await countHeld(store, '4'), 5)
    },
  },
]

const toPairs = (registrations: readonly Registration[]) =>
  registrations.map(({ domainId, teamId }) => [domainId, teamId])
