import type { Name } from '../../src/registry/name.ts'
import { createSynchronizer, leaseFor, toChange } from '../../src/registry/outbox.ts'
import type { Change, Registration, RegistrationRequest, SweepOptions, SweepResult } from '../../src/registry/store.ts'
import type { StoreFeature, StoreSetup, SuiteStore } from '../../src/testing/domain-store-suite.ts'
import {
  createNaiveStore,
  lockWhere,
  type Push,
  type Steps,
  type SynchronizationContext,
  shareRegistrableDomain,
  soundSteps,
} from './naive-store.ts'

/** A store with one thing wrong. */
export interface BrokenStore {
  /** The case that is there to find it. */
  readonly id: string
  readonly breaks: string
  /** Other cases that cannot but find it too, and those that may on a busy machine, and why. */
  readonly alsoFails?: { readonly ids: readonly string[]; readonly maybe?: readonly string[]; readonly because: string }
  readonly features?: readonly StoreFeature[]
  createStore(setup: StoreSetup): SuiteStore
}

function broken(
  id: string,
  breaks: string,
  changes: Partial<Steps> | (() => Partial<Steps>),
  alsoFails?: BrokenStore['alsoFails'],
): BrokenStore {
  const createStore = (setup: StoreSetup) =>
    createNaiveStore(setup, typeof changes === 'function' ? changes() : changes)
  const more = alsoFails ?? consequences[id]
  return { id, breaks, createStore, ...(more && { alsoFails: more }) }
}

/** What else fails, where a mistake cannot but be seen by several cases. */
const consequences: Readonly<Record<string, BrokenStore['alsoFails']>> = {
  'finds-what-it-returned': { ids: ['lists-in-order'], because: 'what is listed is compared with what is found' },
  'finds-names-of-other-teams': { ids: ['lists-in-order'], because: 'what is listed is compared with what is found' },
  'duplicates-share-one-registration': { ids: ['pending-oldest-first'], because: 'two changes of one ID are one' },
  'synchronize-marks-what-was-pushed': {
    ids: ['lists-what-is-synchronized', 'refused-in-a-call-alone'],
    because: 'a mark too many is seen wherever some are not to be made',
  },
  'synchronize-keeps-the-registration': {
    ids: ['refused-is-told', 'release-is-pushed', 'registered-again-is-watched'],
    because: 'a monitor knows registrations by their ID',
  },
  'synchronize-marks-after-the-push': {
    ids: ['refused-in-a-call-alone'],
    because: 'all marks of the call are taken back',
  },
  'failed-push-marks-nothing': { ids: ['refused-in-a-call-alone'], because: 'what is refused is marked as well' },
  'release-ends-an-id': { ids: ['registered-again-is-watched'], because: 'a monitor ignores what was released' },
  'call-keeps-what-it-saved': {
    ids: ['counts-what-waits', 'release-overtakes-nothing'],
    because: 'without a lease a sweep comes between, and a release is due at once',
  },
  'sweep-takes-what-a-call-left': {
    ids: ['release-of-what-was-never-pushed'],
    because: 'a registration beside the released one is left by its call',
  },
  'pending-survive-a-failed-push': {
    ids: ['registered-again-is-watched', 'release-is-pushed'],
    maybe: ['release-of-what-was-never-pushed', 'release-overtakes-nothing', 'sweep-takes-what-a-call-left'],
    because: 'they too have pushes fail before they go through, or have short time limits',
  },
  'pending-oldest-first': { ids: ['sweep-takes-what-a-call-left'], because: 'two are looked at in their order' },
  'pending-pushed-once': {
    ids: ['call-keeps-what-it-saved', 'pending-is-shared', 'refused-waits'],
    maybe: ['pending-survive-a-failed-push'],
    because: 'they too have sweeps with nothing to do',
  },
  'refused-in-a-sweep-alone': {
    ids: ['refused-is-told', 'release-is-pushed', 'sweep-takes-what-a-call-left'],
    because: 'it pushes one by one, and is no more than this',
  },
  'release-does-not-push': {
    ids: ['release-overtakes-nothing'],
    because: 'a push at once overtakes what is under way',
  },
  'release-of-what-was-never-pushed': {
    ids: ['registered-again-is-watched', 'release-overtakes-nothing'],
    because: 'the release is lost',
  },
  'registered-again-is-watched': { ids: ['release-overtakes-nothing'], because: 'the release is lost' },
}

const isWild = ({ domain }: { domain: string }) => domain.startsWith('*.')
const depth = (domain: string) => domain.split('.').length
const isIPv4 = (domain: string) => /^[\d.]+$/.test(domain)
const hasWildcard = (request: RegistrationRequest) => request.wildcardBases.length > 0
const isOfOneTeam = (one: RegistrationRequest, other: RegistrationRequest) => one.teamId === other.teamId
const asText = (names: readonly Name[]) => names.map(({ domain }) => domain).join()

/** Waits as it should, but for some pairs of calls. */
const lockUnless = (isExempt: (one: RegistrationRequest, other: RegistrationRequest) => boolean) => ({
  createLock: lockWhere((one, other) => shareRegistrableDomain(one, other) && !isExempt(one, other)),
})

/** Locks one registrable domain after the other, in the order of the names. */
function lockOneByOne() {
  const tails = new Map<string, Promise<void>>()
  return async (request: RegistrationRequest) => {
    const ends: (() => void)[] = []
    for (const key of new Set(request.names.map(name => name.registrableDomain))) {
      const before = tails.get(key)
      tails.set(
        key,
        Promise.all([before, new Promise<void>(resolve => ends.push(resolve))]).then(() => {}),
      )
      await before
      await Promise.resolve()
    }
    return () => {
      for (const end of ends) end()
    }
  }
}

/** Lets go of a lock after every success, and after the first failure only. */
function lockLeaking(): Partial<Steps> {
  const lock = soundSteps.createLock()
  const failures = new Map<string, number>()
  const failed = new Set<RegistrationRequest>()
  return {
    createLock: () => async request => {
      const unlock = await lock(request)
      return () => {
        if (!failed.has(request) || failures.get(String(request.registrableDomains)) === 1) unlock()
      }
    },
    recover(request) {
      const key = String(request.registrableDomains)
      failed.add(request)
      failures.set(key, (failures.get(key) ?? 0) + 1)
    },
  }
}

/** Whether a wildcard covers names of a call, and all of them three labels above or more. */
function isFarAbove(wildcard: string, names: readonly Name[]): boolean {
  const covered = names.filter(name => !isWild(name) && name.domain.endsWith(wildcard.slice(1)))
  return covered.length > 0 && covered.every(({ domain }) => depth(domain) > depth(wildcard) + 1)
}

const { matches, isBelow, summarize } = soundSteps
const leftOver: Registration[] = []

export const brokenStores: readonly BrokenStore[] = [
  {
    id: 'features-are-as-declared',
    breaks: 'has a method that is not declared',
    features: ['synchronize', 'synchronizePending'],
    createStore: setup => createNaiveStore(setup),
  },

  broken('finds-a-team', 'takes every team for active', {
    findTeam: (id, teams) =>
      teams.filter(team => team.id === id).map(team => ({ ...team, state: 'active' as const }))[0] ?? null,
  }),
  broken('unknown-team-is-null', "takes an organization's ID for a team's", {
    findTeam: (id, teams) => teams.find(team => team.id === id || team.organizationId === id) ?? null,
  }),
  broken('team-id-of-any-length', 'counts with 64 bits', {
    findTeam: (id, teams) =>
      teams.find(team => BigInt.asUintN(64, BigInt(team.id)) === BigInt.asUintN(64, BigInt(id))) ?? null,
  }),
  broken('teams-with-long-ids-are-told-apart', 'saves team IDs as doubles', {
    save: (table, names, toRow) =>
      soundSteps.save(table, names, name => ({ ...toRow(name), teamId: String(Number(toRow(name).teamId)) })),
  }),

  broken('begins-empty', 'is made over what an earlier one has left', {
    createTable: () => [...leftOver],
    finishCall: (_request, _table, saved) =>
      void leftOver.push(...saved.filter(row => row.registrableDomain === 'left-over.com')),
  }),
  broken('registers-one-name', 'takes names under five characters for a mistake', {
    save: (table, names, toRow) =>
      soundSteps.save(
        table,
        names.filter(({ domain }) => domain.length > 4),
        toRow,
      ),
  }),
  broken('registers-a-hundred-names', 'saves the first 64 registrable domains of a call', {
    finishCall(request, table, saved) {
      const known = new Set(request.registrableDomains.slice(0, 64))
      for (const row of saved) if (!known.has(row.registrableDomain)) table.splice(table.indexOf(row), 1)
    },
  }),
  broken('registers-nothing', 'returns nothing at all when there is nothing to save', {
    reportSaved: (saved, { names, wildcardBases }, { registrations }) =>
      saved.length + registrations.length + wildcardBases.length === 0 && names.length === 1 ? (null as never) : saved,
  }),
  broken('registers-only-what-decide-returns', 'saves what a short call looked up, and not only what was decided', {
    finishCall(request, table, [first]) {
      if (!first || request.names.length > 10) return
      const isHeld = ({ domain }: Name) => table.some(row => row.domain === domain)
      for (const name of request.names) {
        if (!isWild(name) && !isHeld(name)) table.push({ ...first, ...name, domainId: `more-${name.domain}` })
      }
    },
  }),
  broken('returns-in-the-order-decided', 'returns registrations in the order of the look-ups', {
    reportSaved(saved, { names }) {
      const rank = ({ domain }: Name) => names.findIndex(name => name.domain === domain)
      return saved.toSorted((one, other) => rank(one) - rank(other))
    },
  }),
  broken('returns-whole-registrations', 'takes the last two labels for the registrable domain', {
    reportSaved: saved => saved.map(row => ({ ...row, registrableDomain: row.domain.split('.').slice(-2).join('.') })),
  }),
  broken('returns-no-other-fields', 'shows a field of its own', {
    save: (table, names, toRow) => soundSteps.save(table, names, name => ({ ...toRow(name), createdAt: 0 })),
  }),
  broken('finds-what-it-returned', 'hides the IDs of what other teams hold', {
    reportFound: (found, { teamId }) => ({
      ...found,
      registrations: found.registrations.map(row => (row.teamId === teamId ? row : { ...row, domainId: '' })),
    }),
  }),
  broken('ids-are-unique', 'has 150 IDs', () => {
    let next = 0
    return { createId: () => `id-${next++ % 150}` }
  }),
  broken('ids-are-stable', 'makes new IDs when a registrable domain itself is registered', {
    finishCall(_request, table, saved) {
      for (const [index, row] of table.entries()) {
        const isOlder = !saved.includes(row) && saved.some(other => other.domain === row.registrableDomain)
        if (isOlder) table[index] = { ...row, domainId: `${row.domainId}+` }
      }
    },
  }),
  broken('duplicates-share-one-registration', 'gives the names of one call and registrable domain the same ID', {
    createId: ({ registrableDomain }, call) => `${call}-${registrableDomain}`,
  }),
  broken('request-is-left-alone', 'turns the list of locks round', {
    decide(request, found) {
      ;(request.registrableDomains as string[]).reverse()
      return request.decide(found)
    },
  }),

  broken('finds-names-exactly', 'confuses a hyphen with a dot', {
    matches: (row, name) => row.domain.replaceAll('-', '.') === name.domain.replaceAll('-', '.'),
  }),
  broken('finds-wildcards-exactly', 'takes a wildcard for a pattern', {
    matches: (row, name, request) =>
      matches(row, name, request) || (isWild(row) && name.domain.endsWith(row.domain.slice(1))),
  }),
  broken('finds-names-of-other-teams', 'does not say which other team holds a name', {
    reportFound: (found, { teamId }) => ({
      ...found,
      registrations: found.registrations.map(row => (row.teamId > teamId ? { ...row, teamId: 'another' } : row)),
    }),
  }),
  broken('looks-up-thousands-of-names', 'looks up a thousand names', {
    reportFound: (found, { names }) => {
      const looked = new Set(names.slice(0, 1000).map(({ domain }) => domain))
      return { ...found, registrations: found.registrations.filter(({ domain }) => looked.has(domain)) }
    },
  }),
  broken('below-own', 'names one of two twice', {
    summarize: (own, ...rest) => summarize(own.length === 2 ? ([own[0], own[0]] as Registration[]) : own, ...rest),
  }),
  broken('below-others', 'tells what others have, if it is several', {
    summarize: (own, others, ...rest) => ({
      ...summarize(own, others, ...rest),
      ...(own.length === 0 && others.length > 1 && { ownDomains: others.map(({ domain }) => domain) }),
    }),
  }),
  broken('below-names-three', 'names five', {
    summarize: (own, ...rest) => ({
      ...summarize(own, ...rest),
      ownDomains: own.slice(0, 5).map(({ domain }) => domain),
    }),
  }),
  broken('below-counts-past-three', "counts what others have among a team's own", {
    summarize: (own, others, ...rest) => ({
      ...summarize(own, others, ...rest),
      ownCount: own.length === 0 ? 0 : own.length + others.length,
    }),
  }),
  broken('below-counts-to-a-thousand', 'stops counting at a hundred', {
    summarize: (own, ...rest) => summarize(own.slice(0, 100), ...rest),
  }),
  broken('below-any-depth', 'looks four labels deep', {
    isBelow: (row, base) => isBelow(row, base) && depth(row.domain) - depth(base.domain) <= 4,
  }),
  broken(
    'below-narrower-wildcards',
    'sees no wildcards below a base',
    { isBelow: (row, base) => isBelow(row, base) && !isWild(row) },
    {
      ids: ['overlap-subdomain-conflict', 'overlap-with-another-team'],
      because: 'the table of overlap has wildcards over narrower ones',
    },
  ),
  broken(
    'below-not-the-base',
    'takes a base for one of the names below it',
    { isBelow: (row, base) => isBelow(row, base) || (row.domain === base.domain && depth(row.domain) === 3) },
    {
      ids: ['overlap-created', 'two-teams-side-by-side'],
      because: 'a wildcard beside its own base is in the table of overlap',
    },
  ),
  broken('below-not-look-alikes', 'walks the index into names that go on with a hyphen', {
    isBelow: (row, base) => isBelow(row, base) || row.domain.includes(`${base.domain.split('.')[0]}-`),
  }),
  broken('below-same-registrable-domain-only', 'reaches across public suffixes', {
    isBelow: (row, base) => row.domain.endsWith(`.${base.domain}`),
  }),
  broken('below-answers-in-order', 'answers in the order of the alphabet', {
    reportFound: (found, { wildcardBases }) => {
      const answers = wildcardBases.map((base, index) => [base.domain, found.below[index]] as const)
      return {
        ...found,
        below: answers.toSorted(([one], [other]) => (one < other ? -1 : 1)).map(([, below]) => below as never),
      }
    },
  }),

  broken('overlap-created', 'takes the addresses of a network for one', {
    reportFound: (found, { names }, table) => ({
      ...found,
      registrations: [
        ...found.registrations,
        ...names.flatMap(({ domain }) =>
          table
            .filter(row => isIPv4(domain) && isIPv4(row.domain) && row.domain.split('.')[0] === domain.split('.')[0])
            .map(row => ({ ...row, domain })),
        ),
      ],
    }),
  }),
  broken('overlap-existing', 'does not find IPv6 addresses', {
    matches: (row, name, request) => matches(row, name, request) && !/^[\da-f]+:[\da-f:]+$/.test(row.domain),
  }),
  broken('overlap-wildcard-conflict', "finds a team's own wildcards at most two labels above a name", {
    matches: (row, name, request) =>
      matches(row, name, request) &&
      !(isWild(row) && row.teamId === request.teamId && isFarAbove(row.domain, request.names)),
  }),
  broken('overlap-subdomain-conflict', 'stops at the registrable domain if that is registered itself', {
    summarize: (own, others, base, table) =>
      summarize(
        base.domain !== base.registrableDomain && table.some(({ domain }) => domain === base.registrableDomain)
          ? []
          : own,
        others,
        base,
        table,
      ),
  }),
  broken('overlap-with-another-team', 'does not find IPv4 addresses of other teams', {
    matches: (row, name, request) =>
      matches(row, name, request) && !(isIPv4(row.domain) && row.teamId !== request.teamId),
  }),
  broken('overlap-own-team-first', "lets others' names outdo a single one of the own team", {
    summarize: (own, others, ...rest) => summarize(own.length === 1 && others.length > 0 ? [] : own, others, ...rest),
  }),
  broken('overlap-within-one-call', 'loses names that were saved with a wildcard of their registrable domain', {
    finishCall(_request, table, saved) {
      const isLost = (row: Registration) =>
        !isWild(row) && saved.some(other => isWild(other) && other.registrableDomain === row.registrableDomain)
      for (const row of saved.filter(isLost)) table.splice(table.indexOf(row), 1)
    },
  }),
  broken('two-teams-side-by-side', "takes www for a part of another team's name", {
    reportFound: (found, { names, teamId }, table) => ({
      ...found,
      registrations: [
        ...found.registrations,
        ...table
          .filter(row => row.teamId !== teamId && names.some(({ domain }) => domain === `www.${row.domain}`))
          .map(row => ({ ...row, domain: `www.${row.domain}` })),
      ],
    }),
  }),

  broken(
    'race-for-the-same-names',
    'lets the same call in twice, if it has two registrable domains',
    lockUnless(
      (one, other) =>
        isOfOneTeam(one, other) && asText(one.names) === asText(other.names) && one.registrableDomains.length === 2,
    ),
  ),
  broken('race-shows-what-was-saved', 'makes up the IDs of what it finds after it had to wait', {
    reportFound: (found, _request, _table, hasWaited) => ({
      ...found,
      registrations: found.registrations.map(row =>
        hasWaited && row.domain === row.registrableDomain ? { ...row, domainId: 'made-up' } : row,
      ),
    }),
  }),
  broken(
    'race-between-teams',
    'locks names for each team',
    lockUnless((one, other) => !isOfOneTeam(one, other) && !hasWildcard(one) && !hasWildcard(other)),
  ),
  broken(
    'race-of-wildcard-and-name',
    'locks for a team either the names or the wildcards',
    lockUnless((one, other) => isOfOneTeam(one, other) && hasWildcard(one) !== hasWildcard(other)),
  ),
  broken(
    'race-of-wildcard-and-name-between-teams',
    'locks against other teams either the names or the wildcards',
    lockUnless((one, other) => !isOfOneTeam(one, other) && hasWildcard(one) !== hasWildcard(other)),
  ),
  broken('race-in-opposite-order', 'locks in the order of the names', { createLock: lockOneByOne }),
  broken(
    'race-in-overlapping-batches',
    'locks only against calls with the very same registrable domains',
    lockUnless((one, other) => String(one.registrableDomains) !== String(other.registrableDomains)),
  ),

  broken('rejects-when-decide-throws', 'takes a failed decision for an empty one', {
    decide(request, found) {
      try {
        return request.decide(found)
      } catch {
        return []
      }
    },
  }),
  broken('works-after-a-failure', 'keeps a lock after the second failure', lockLeaking),
  broken('saves-all-or-nothing', 'saves one by one', {
    save: (table, names, toRow) =>
      names.map(name => {
        const row = toRow(name)
        table.push(row)
        return row
      }),
  }),
  broken('saves-the-last-decision', 'decides twice and saves the first', {
    decide(request, found) {
      const first = request.decide(found)
      request.decide(found)
      return first
    },
  }),
  broken('rejects-when-decide-throws-later', 'decides again once it has saved', {
    finishCall(request, table, saved) {
      if (saved.length === 0) return
      const rows = saved.splice(0)
      const found = { registrations: [], below: request.wildcardBases.map(base => summarize([], [], base, table)) }
      if (request.names.some(({ domain }) => domain.includes('.caller-'))) {
        const domains = request.decide(found).map(({ domain }) => domain)
        for (const row of rows) table.splice(table.indexOf(row), 1)
        for (const [index, domain] of domains.entries()) saved.push({ ...(rows[index] as Registration), domain })
        table.push(...saved)
      } else saved.push(...rows)
    },
  }),
  broken('save-does-not-replace', 'undoes a call by deleting its names', {
    recover({ names }, table) {
      for (const row of table.filter(({ domain }) => names.some(name => name.domain === domain))) {
        table.splice(table.indexOf(row), 1)
      }
    },
  }),

  broken('text-is-data', 'drops quotes', {
    save: (table, names, toRow) =>
      soundSteps.save(table, names, name => ({ ...toRow(name), domain: name.domain.replaceAll("'", '') })),
  }),
  broken('text-is-no-pattern', 'looks below a base with LIKE', {
    isBelow(row, base) {
      const pattern = base.domain
        .replace(/[.*?[\]\\]/g, '\\$&')
        .replaceAll('_', '.')
        .replaceAll('%', '.*')
      return row.registrableDomain === base.registrableDomain && new RegExp(`\\.${pattern}$`).test(row.domain)
    },
  }),
  broken('names-of-object-fields', 'keeps names as fields of an object', {
    matches: (row, name, request) => matches(row, name, request) && !(name.domain in {}),
  }),
  broken('longest-names', 'has 250 characters for a name', {
    save: (table, names, toRow) =>
      soundSteps.save(table, names, name => ({ ...toRow(name), domain: name.domain.slice(0, 250) })),
  }),
  broken('international-names', 'does not find A-labels', {
    matches: (row, name, request) => matches(row, name, request) && !row.domain.includes('xn--'),
  }),

  {
    id: 'without-synchronize-nothing-is-pending',
    breaks: 'has synchronize and saves as synchronized',
    createStore: setup => ({ ...createNaiveStore(setup), ...(!setup.synchronize && { synchronize: () => {} }) }),
  },
  broken('with-synchronize-new-ones-are-pending', 'returns only the first of a call as not synchronized', {
    isSynchronized: (hasPush, index) => ({ returned: !hasPush || index > 0, stored: !hasPush }),
  }),
  broken(
    'register-does-not-push',
    'pushes when it saves',
    {
      finishCall(_request, _table, saved, push) {
        if (saved.length > 0)
          Promise.resolve(saved.map(row => toChange(row, 'registered')))
            .then(push)
            .catch(() => {})
      },
    },
    {
      ids: [
        'call-keeps-what-it-saved',
        'release-of-what-was-never-pushed',
        'release-overtakes-nothing',
        'sweep-takes-what-a-call-left',
        'synchronize-marks-after-the-push',
        'synchronize-pushes-what-it-is-given',
      ],
      because: 'a push too many is seen wherever pushes are looked at',
    },
  ),
  broken('synchronize-pushes-what-it-is-given', 'pushes wildcards of a call without their registrable domain', {
    synchronize(registrations, { push, outbox }) {
      const strip = ({ registrableDomain, ...rest }: Change) => rest as Change
      const pushStripped = (changes: readonly Change[]) =>
        push(changes.map(change => (isWild(change) ? strip(change) : change)))
      return createSynchronizer({ push: pushStripped, timeLimit: 1_000 }, outbox).synchronize(registrations)
    },
  }),
  broken('synchronize-marks-what-was-pushed', 'marks all that there is', {
    mark: table => void table.splice(0, table.length, ...table.map(row => ({ ...row, synchronized: true }))),
  }),
  broken('synchronize-keeps-the-registration', 'gives a registration a new ID when it marks it', {
    mark(table, { domainId }) {
      const index = table.findIndex(row => row.domainId === domainId)
      if (index >= 0) table[index] = { ...(table[index] as Registration), domainId: `${domainId}+`, synchronized: true }
    },
  }),
  broken('synchronize-marks-after-the-push', 'marks first, and takes the mark back when the push fails', {
    async synchronize(registrations, { table, sound }) {
      const change = (synchronized: boolean) => {
        for (const { domainId } of registrations) {
          const index = table.findIndex(row => row.domainId === domainId)
          if (index >= 0) table[index] = { ...(table[index] as Registration), synchronized }
        }
      }
      change(true)
      try {
        await sound.synchronize(registrations)
      } catch (error) {
        change(false)
        throw error
      }
    },
  }),
  broken('synchronize-rejects-with-the-push', 'takes a push that fails later for one that went through', {
    push: (changes, push) => Promise.resolve(push(changes)).catch(() => {}),
  }),
  broken('failed-push-marks-nothing', 'marks whether the push went through or not', {
    async synchronize(registrations, { sound, table }) {
      try {
        await sound.synchronize(registrations)
      } finally {
        for (const registration of registrations) soundSteps.mark(table, toChange(registration, 'registered'))
      }
    },
  }),
  broken('retry-after-a-failed-push', 'synchronizes a registration once, and refuses to try again', () => {
    const tried = new Set<string>()
    return {
      async synchronize(registrations, { sound }) {
        if (registrations.some(({ domainId }) => tried.has(domainId))) throw new Error('It was tried before')
        for (const { domainId } of registrations) tried.add(domainId)
        await sound.synchronize(registrations)
      },
    }
  }),

  {
    id: 'later-is-not-now',
    breaks: 'pushes what it saves all the same',
    features: ['synchronizesLater'],
    createStore(setup) {
      const { findTeam, register } = createNaiveStore(setup)
      return {
        findTeam,
        synchronizesLater: true,
        async register(request) {
          const registered = await register(request)
          await setup.synchronize?.(registered.saved.map(each => toChange(each, 'registered')))
          return registered
        },
      }
    },
  },

  broken('release-frees-names', 'does not free wildcards', {
    remove: (table, row) => !isWild(row) && soundSteps.remove(table, row),
  }),
  broken('release-returns-what-it-freed', 'returns what it freed without IDs', {
    reportReleased: rows => rows.map(row => ({ ...row, domainId: '' })),
  }),
  broken('release-passes-over-other-teams', 'releases the wildcards of all teams', {
    canRelease: (row, teamId) => row.teamId === teamId || isWild(row),
  }),
  broken('release-passes-over-what-is-not-there', 'fails where a text is no hostname', {
    readDomain: domain => soundSteps.readDomain(domain) ?? fail(),
  }),
  broken('release-in-any-spelling', 'knows the canonical spelling only', { readDomain: domain => domain }),
  broken('release-ends-an-id', 'gives a name its old ID back', () => {
    const ids = new Map<string, string>()
    return {
      createId(name, ...rest) {
        const id = ids.get(name.domain) ?? soundSteps.createId(name, ...rest)
        ids.set(name.domain, id)
        return id
      },
    }
  }),
  broken('release-during-a-push', 'saves a registration again when it marks it', {
    mark(table, registration) {
      const index = table.findIndex(row => row.domainId === registration.domainId)
      table.splice(index < 0 ? table.length : index, 1, { ...registration, synchronized: true })
    },
  }),

  broken('call-keeps-what-it-saved', 'lets a sweep take at once what a call has saved', {
    lease: (milliseconds, by) => (by === 'save' ? 0 : milliseconds),
  }),
  broken('sweep-takes-what-a-call-left', 'leases what a call saves for ever', {
    lease: (milliseconds, by) => (by === 'save' ? 3_600_000 : milliseconds),
  }),
  broken('pending-survive-a-failed-push', 'forgets what could not be pushed', {
    postpone: (waiting, { domainId }) => void waiting.delete(domainId),
  }),
  broken('pending-oldest-first', 'sweeps up the newest first', {
    choose: (waiting, ...rest) => soundSteps.choose(waiting.toReversed(), ...rest),
  }),
  broken('pending-within-the-limit', 'sweeps up all at once', {
    choose: (waiting, _, now) => soundSteps.choose(waiting, 1000, now),
  }),
  broken('pending-pushed-once', 'calls the push for nothing', {
    async sweep(options, { sound, push }) {
      const result = await sound.synchronizePending(options)
      if (result.synchronized + result.failed === 0) await push([])
      return result
    },
  }),
  broken('pending-is-shared', 'leases nothing to a sweep', {
    lease: (milliseconds, by) => (by === 'sweep' ? 0 : milliseconds),
  }),
  broken('refused-in-a-call-alone', 'fails a call as a whole', {
    async synchronize(registrations, { push, outbox }) {
      const changes = registrations.map(row => toChange(row, 'registered'))
      await push(changes)
      await outbox.finish(changes)
    },
  }),
  broken('refused-in-a-sweep-alone', 'stops a sweep at the first change that is refused', {
    async sweep(options, context) {
      return sweepOneByOne(options, context, () => true)
    },
  }),
  broken('refused-is-told', 'tells nobody of what it refused', {
    sweep: (options, { sound }) => sound.synchronizePending({ ...options, onError: () => {} }),
  }),
  broken('refused-waits', 'tries again at once what was refused', {
    postpone: (_, change) => {
      change.due = 0
    },
  }),
  broken('monitor-that-is-away', 'pushes each change alone when a push fails', {
    async synchronize(registrations, { push, outbox }) {
      let failure: unknown
      for (const registration of registrations) {
        const change = toChange(registration, 'registered')
        try {
          await push([change])
          await outbox.finish([change])
        } catch (error) {
          failure = error
          await outbox.postpone([{ change, lease: null, wait: 5, isRefusal: false }])
        }
      }
      if (failure) throw failure
    },
  }),
  broken('release-is-pushed', 'pushes the release of a wildcard as if it were registered', {
    push: (changes, push) => push(changes.map(change => (isWild(change) ? { ...change, kind: 'registered' } : change))),
  }),
  broken('release-does-not-push', 'pushes a release when it releases', () => {
    let pushNow: Push = () => {}
    return {
      push(changes, push) {
        pushNow = push
        return push(changes)
      },
      recordRelease(row, ...rest) {
        Promise.resolve([toChange(row, 'released')])
          .then(pushNow)
          .catch(() => {})
        return soundSteps.recordRelease(row, ...rest)
      },
    }
  }),
  broken('release-overtakes-nothing', 'makes every release due at once', {
    recordRelease: row => ({ ...toChange(row, 'released'), due: 0, refusals: 0 }),
  }),
  broken('release-of-what-was-never-pushed', 'pushes a registration although it has been released', {
    recordRelease: (row, before, lease) => before ?? soundSteps.recordRelease(row, before, lease),
  }),
  broken('registered-again-is-watched', 'takes what is not marked for never pushed when it is released', {
    recordRelease: (row, before, lease) => (before ? null : soundSteps.recordRelease(row, before, lease)),
  }),
  broken('counts-what-waits', 'counts what is due', {
    count: waiting => [...waiting.values()].filter(({ due }) => due <= performance.now()).length,
  }),
  {
    id: 'counts-nothing-without-synchronize',
    breaks: 'counts registrations that there is nothing to push to',
    createStore: setup => ({ ...createNaiveStore(setup), ...(!setup.synchronize && { countPending: () => 2 }) }),
  },

  broken('lists-in-order', 'lists by name', {
    list: (table, ...rest) =>
      soundSteps.list(
        table.length === 4 ? table.toSorted((one, other) => (one.domain < other.domain ? -1 : 1)) : table,
        ...rest,
      ),
  }),
  broken('lists-a-call-in-order', 'saves the names of a long call backwards', {
    save(table, names, toRow) {
      const rows = names.map(toRow)
      table.push(...(rows.length === 50 ? rows.toReversed() : rows))
      return rows
    },
  }),
  broken('lists-a-team', 'lists all teams', {
    list: (table, { after, limit, teamId }, ...rest) =>
      soundSteps.list(table, { after, limit, teamId: teamId === '1' ? teamId : undefined }, ...rest),
  }),
  broken('lists-by-page', 'forgets the limit', {
    list: (table, { teamId, after }, ...rest) => soundSteps.list(table, { teamId, after }, ...rest),
  }),
  broken('lists-after-what-is-gone', 'begins anew after what is gone', {
    list: (table, { after, ...options }, ...rest) =>
      soundSteps.list(table, { ...options, after: table.find(row => row.domainId === after)?.domainId }, ...rest),
  }),
  broken('lists-what-is-synchronized', 'says of everything that it is synchronized', {
    list: (...parameters) => soundSteps.list(...parameters).map(row => ({ ...row, synchronized: true })),
  }),
]

/** Pushes what is due one by one. @param stopsAt Whether to go no further after a change that was refused. */
async function sweepOneByOne(
  { limit = 1000 }: SweepOptions,
  { push, outbox, timeLimit }: SynchronizationContext,
  stopsAt: () => boolean,
): Promise<SweepResult> {
  let [synchronized, failed] = [0, 0]
  for (const change of await outbox.take(limit, leaseFor(timeLimit))) {
    try {
      await push([change])
      await outbox.finish([change])
      synchronized += 1
    } catch {
      await outbox.postpone([{ change, lease: change.lease, wait: 2 * timeLimit, isRefusal: true }])
      failed += 1
      if (stopsAt()) break
    }
  }
  return { synchronized, failed }
}

function fail(): never {
  throw new Error('That is no hostname')
}
