import { transfer } from '../operations/transfer.ts'
import type { Change, Registration } from '../rules/registration.ts'
import type { TransferredRegistrations } from '../store/contract.ts'
import { attempt, countOfTeam, lookUp, manyDomains, methodOf, save, submitForCodes, toDomains } from './calls.ts'
import { checkEqual, checkThat } from './check.ts'
import { named, openMonitored, runSweep, soon, sweepUntil, synchronize } from './monitor.ts'
import type { CaseDefinition } from './store-case.ts'
import type { SuiteStore } from './suite-store.ts'

const transferFrom = async (
  store: SuiteStore,
  teams: readonly [from: string, to: string],
  domains: readonly string[],
  decide: (found: TransferredRegistrations['found']) => boolean = () => true,
) => methodOf(store, 'transfer')({ from: teams[0], to: teams[1], domains, needsCount: true, decide })

const teamsOf = async (store: SuiteStore, domains: readonly string[]) =>
  (await lookUp(store, '1', domains)).registrations.map(({ teamId }) => teamId)

/** The fields that a transfer keeps. */
export const toKept = ({ domainId: _, teamId: __, createdAt: ___, synchronized: ____, ...kept }: Registration) => kept

const isRegistrationOfB = ({ domain, kind }: Change) => domain === 'b.com' && kind === 'registered'

/** Whether the monitor got the release of the former ID before the registration of the new ID. */
const isForgottenFirst = (accepted: readonly Change[], former: Registration, registration: Registration) => {
  const indexOf = (kind: Change['kind'], { domainId }: Registration) =>
    accepted.findIndex(change => change.kind === kind && change.domainId === domainId)
  const [released, registered] = [indexOf('released', former), indexOf('registered', registration)]
  return released >= 0 && (registered < 0 || registered > released)
}

export const transferCases: readonly CaseDefinition[] = [
  {
    id: 'transfers-what-a-team-holds',
    name: 'MUST give each transferred registration a new ID, and skip names and IDs that the team has not registered',
    async test({ open }) {
      const store = await open()
      const [first, second] = (await save(store, '1', ['a.com', 'b.com', '*.c.com', 'd.com'])) as Registration[]
      await save(store, '3', ['x.com'])
      const asked = [first?.domainId ?? '', 'B.com.', '*.c.com', 'x.com', 'y.com', 'not a name']
      const { found, saved } = await transferFrom(store, ['1', '2'], asked)
      const domains = ['a.com', 'b.com', '*.c.com', 'd.com', 'x.com']
      const after = (await lookUp(store, '1', domains)).registrations
      checkEqual('the teams of the names', await teamsOf(store, domains), ['2', '2', '2', '1', '3'])
      checkEqual(
        'the registrations found before the transfer',
        found.registrations.map(({ domain, teamId }) => [domain, teamId]).toSorted(),
        ['*.c.com', 'a.com', 'b.com'].map(domain => [domain, '1']),
      )
      checkEqual(
        'the registrations afterwards, in the order in which they were found',
        saved,
        found.registrations.map(({ domain }) => after.find(each => each.domain === domain)),
      )
      checkEqual('what a transfer keeps', saved.map(toKept), found.registrations.map(toKept))
      const former = [first, second].map(each => each?.domainId)
      checkThat(
        'each transferred registration has a new ID',
        !after.slice(0, 3).some(each => former.includes(each.domainId)),
        after,
      )
      const listed = async (teamId: string) => toDomains(await methodOf(store, 'list')({ teamId })).toSorted()
      checkEqual('the names that the former team lists', await listed('1'), ['d.com'])
      checkEqual('the names that the new team lists', await listed('2'), ['*.c.com', 'a.com', 'b.com'])
      checkEqual(
        'how many registrations each team has',
        [await countOfTeam(store, '1'), await countOfTeam(store, '2')],
        [1, 3],
      )
      const none = await transfer(store, { from: '1', to: '4', domains: ['y.com'] })
      checkEqual('the result for an unknown name and a team with a limit', none, [])
    },
  },
  {
    id: 'transfer-counts',
    name: 'MUST count the new team’s registrations in a transfer, and transfer nothing if `decide` returns false',
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['a.com', 'b.com'])
      await save(store, '2', ['c.com'])
      const { found, saved } = await transferFrom(store, ['1', '2'], ['a.com', 'b.com'], () => false)
      checkEqual('how many registrations the new team has', found.teamCount, 1)
      checkEqual('the saved registrations', saved, [])
      checkEqual('the teams of the names', await teamsOf(store, ['a.com', 'b.com']), ['1', '1'])
    },
  },
  {
    id: 'transfer-keeps-names-watched',
    name: 'MUST push the new registration of a transferred name before the release of the old ID, even after refusals',
    async test({ open }) {
      const [store, monitor] = await openMonitored(open, soon)
      const domains = manyDomains(20)
      await synchronize(store, await save(store, '1', [...domains, 'b.com']))
      monitor.refuses = isRegistrationOfB
      const { found, saved } = await transferFrom(store, ['1', '2'], [...domains, 'b.com'])
      const isTold = ({ domainId }: Registration) => monitor.accepted.some(change => change.domainId === domainId)
      const isForgotten = ({ domain, domainId }: Registration) =>
        domain === 'b.com' || monitor.accepted.some(each => each.kind === 'released' && each.domainId === domainId)
      await sweepUntil(store, 'all former IDs except one are released', () => found.registrations.every(isForgotten))
      for (let sweeps = 0; sweeps < 3; sweeps += 1) await runSweep(store)
      const first = saved.filter((each, index) =>
        isForgottenFirst(monitor.accepted, found.registrations[index] as Registration, each),
      )
      checkEqual('the names whose former ID was released too early', first, [])
      const later = saved.find(({ domain }) => domain === 'b.com') as Registration
      checkThat('the refused registration has not been accepted', !isTold(later), later)
      checkThat(
        'the refused name is watched for the former team',
        monitor.watched().includes('b.com for team 1'),
        later,
      )
      monitor.refuses = named()
      await sweepUntil(store, 'all names are watched for the new team alone', () =>
        monitor.watched().every(each => each.endsWith(' for team 2')),
      )
      checkEqual('how many names are watched', monitor.watched().length, saved.length)
    },
  },
  {
    id: 'transfer-of-what-is-pending',
    name: 'MUST push the last registration of a twice-transferred name before the release of the first ID',
    async test({ open }) {
      const [store, monitor] = await openMonitored(open, soon)
      await synchronize(store, await save(store, '1', ['a.com']))
      const first = await transferFrom(store, ['1', '2'], ['a.com'])
      const second = await transferFrom(store, ['2', '3'], ['a.com'])
      const areSynchronized = [first, second].map(({ saved }) => saved[0]?.synchronized)
      checkEqual('whether the new IDs are synchronized', areSynchronized, [false, false])
      const isLast = () => monitor.watched().join() === 'a.com for team 3'
      await sweepUntil(store, 'the name is watched for the last team alone', isLast)
      const [former] = first.found.registrations as [Registration]
      const [last] = second.saved as [Registration]
      checkThat('the name was always watched', !isForgottenFirst(monitor.accepted, former, last), monitor.accepted)
      await sweepUntil(store, 'nothing is pending', async () => (await methodOf(store, 'countPending')()) === 0)

      await synchronize(store, await save(store, '1', ['b.com', 'c.com']))
      monitor.refuses = isRegistrationOfB
      for (const domain of ['b.com', 'c.com']) await transferFrom(store, ['1', '2'], [domain])
      await transferFrom(store, ['2', '3'], ['c.com'])
      const all = () => monitor.watched().join()
      const expected = 'a.com for team 3,b.com for team 1,c.com for team 3'
      await sweepUntil(store, `${expected} are watched`, () => all() === expected)
      for (let sweeps = 0; sweeps < 3; sweeps += 1) await runSweep(store)
      checkEqual('the watched names if the new ID of b.com is refused', all(), expected)
    },
  },
  {
    id: 'transfer-is-due',
    name: 'MUST push both changes of a transfer within two sweeps if the name was synchronized',
    async test({ open }) {
      const store = await open(() => {})
      await synchronize(store, await save(store, '1', ['a.com']))
      await transferFrom(store, ['1', '2'], ['a.com'])
      const sweeps = [await runSweep(store), await runSweep(store)]
      const count = sweeps.reduce((sum, { synchronized }) => sum + synchronized, 0)
      checkEqual('how many changes two sweeps pushed', count, 2)
    },
  },
  {
    id: 'transfer-overtakes-nothing',
    name: 'MUST NOT push the release of a transferred name’s former ID while its registration is still being pushed',
    async test({ open, alongside }) {
      const [store, monitor] = await openMonitored(open)
      const accepted = () => monitor.accepted.map(({ kind, teamId }) => `${kind} for team ${teamId}`)
      const held = monitor.holdNext()
      const pushing = alongside(synchronize(store, await save(store, '1', ['a.com'])), held.end)
      await transferFrom(store, ['1', '2'], ['a.com'])
      for (let sweeps = 0; sweeps < 2; sweeps += 1) await runSweep(store)
      checkEqual('the accepted changes', accepted(), ['registered for team 2'])
      held.end()
      await pushing
      await runSweep(store)
      const expected = ['registered for team 1', 'released for team 1']
      checkEqual('the changes accepted after that', accepted().slice(1), expected)
    },
  },
  {
    id: 'transfer-and-release',
    name: 'MUST push the release of a former ID even if the monitor refuses the release of the new ID',
    async test({ open }) {
      const [store, monitor] = await openMonitored(open, soon)
      monitor.refuses = ({ kind, teamId }) => kind === 'released' && teamId === '2'
      await synchronize(store, await save(store, '1', ['a.com']))
      await transferFrom(store, ['1', '2'], ['a.com'])
      await methodOf(store, 'release')('2', ['a.com'])
      await sweepUntil(store, 'nothing is watched', () => monitor.watched().length === 0)
      monitor.refuses = named()
      await sweepUntil(store, 'nothing is pending', async () => (await methodOf(store, 'countPending')()) === 0)
    },
  },
  {
    id: 'transfer-and-settle',
    name: 'MUST push the release of a former ID once the registration of the new ID has been settled',
    async test({ open }) {
      const [store, monitor] = await openMonitored(open, soon)
      monitor.refuses = ({ kind, teamId }) => kind === 'registered' && teamId === '2'
      await synchronize(store, await save(store, '1', ['a.com']))
      const { saved } = await transferFrom(store, ['1', '2'], ['a.com'])
      await runSweep(store)
      checkEqual('the watched names before that', monitor.watched(), ['a.com for team 1'])
      const domainIds = saved.map(({ domainId }) => domainId)
      checkEqual('how many changes are settled', await methodOf(store, 'settlePending')({ domainIds }), 1)
      await sweepUntil(store, 'nothing is watched', () => monitor.watched().length === 0)
      checkEqual('how many changes are pending', await methodOf(store, 'countPending')(), 0)
    },
  },
  {
    id: 'race-of-transfers',
    name: 'MUST transfer a name to only one team if two transfers and a call of another team compete for it',
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
        checkEqual('the code for another team at the same moment', codes[0], 'domain_already_licensed')
        const held = await methodOf(store, 'list')({ domain })
        checkEqual('the registrations afterwards', toPairs(held), toPairs([...one.saved, ...other.saved]))
      }
    },
  },
  {
    id: 'race-of-transfers-under-a-limit',
    name: 'MUST serialize all calls of a team with a limit and all transfers to that team',
    async test({ open }) {
      const store = await open()
      const domains = manyDomains(9)
      const moves = domains.map((domain, index) => ({ from: `${1 + (index % 3)}`, to: '4', domains: [domain] }))
      // Makes these calls at the same time, so that a store that opens connections on demand has enough of them for the
      // race.
      await Promise.all(moves.map(({ from, domains }) => save(store, from, domains)))
      await save(store, '4', manyDomains(4, 'held-'))
      await Promise.allSettled(moves.map(move => transfer(store, move)))
      checkEqual(
        'how many registrations the team has after transfers from three teams',
        await countOfTeam(store, '4'),
        5,
      )

      const another = await open()
      await save(another, '1', domains)
      await Promise.allSettled([
        ...domains.map(domain => transfer(another, { from: '1', to: '4', domains: [domain] })),
        ...manyDomains(8, 'new.').map(domain => submitForCodes(another, '4', [domain])),
      ])
      checkEqual('how many registrations the team has after transfers and calls', await countOfTeam(another, '4'), 5)
    },
  },
]

const toPairs = (registrations: readonly Registration[]) =>
  registrations.map(({ domainId, teamId }) => [domainId, teamId])
