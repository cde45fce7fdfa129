import { changeOf, type SweepOptions } from '../../src/outbox/contract.ts'
import { isWildcard, wildcardsAbove } from '../../src/rules/name.ts'
import type { Change, ImportFindings, Registration, Team } from '../../src/rules/registration.ts'
import type { ListPage } from '../../src/store/arguments.ts'
import type { ImportRequest, LookUp, TransferRequest, TransferredRegistrations } from '../../src/store/contract.ts'
import type { ManagedStore, RegistrationStep } from '../../src/store/managed-store.ts'
import { toDomains, toTestName } from '../../src/testing/calls.ts'
import { managedStoreFeatures, type StoreFeature, type StoreSetup, type SuiteStore } from '../../src/testing/index.ts'
import {
  lockWhere,
  mustTakeTurns,
  type Row,
  type Steps,
  shareRegistrableDomain,
  soundSteps,
  type Tables,
  toWaiting,
  type Waiting,
} from './naive-store.ts'

/** A store with one defect. */
export type BrokenStore = readonly [
  /** The case of the suite that must find the defect. */
  id: string,
  /** What the store does wrong, as the end of "a store that …". */
  breaks: string,
  /** The steps that are wrong. A function, if they remember something. */
  steps: Partial<Steps> | (() => Partial<Steps>),
  /** The declared features. Default: all. */
  features?: readonly StoreFeature[],
]

const { findTeam, matches, isBelow, summarize, choose, save, toRegistration } = soundSteps
const depth = (domain: string) => domain.split('.').length
const isLong = (domain: string) => domain.includes('.')
const isIPv4 = (domain: string) => /^[\d.]+$/.test(domain)
const isIPv6 = (domain: string) => /^[\da-f]+:[\da-f:]+$/.test(domain)
const toNumber = (id: string) => BigInt.asUintN(64, BigInt(id))
const remove = (rows: Row[], gone: readonly Row[]) => {
  for (const row of gone) soundSteps.remove(rows, row)
}
const noSignal = { signal: new AbortController().signal }
const toRegistered = (registration: Registration) => changeOf(registration, 'registered')

/** Replaces methods of a correct store. */
const wrapped = (
  replace: (store: ManagedStore, tables: Tables, setup: StoreSetup) => Partial<SuiteStore>,
): Partial<Steps> => ({ wrap: (store, ...rest) => ({ ...store, ...replace(store as ManagedStore, ...rest) }) })

/** Does not find some registrations. */
const hiding = (isHidden: (row: Row, question: LookUp) => boolean): Partial<Steps> => ({
  matches: (row, domain, question) => matches(row, domain, question) && !isHidden(row, question),
})

/** Saves something other than the given names. */
const saving = (change: (row: Row) => Partial<Row>): Partial<Steps> => ({
  save: (rows, names, toRow) => save(rows, names, name => ({ ...toRow(name), ...change(toRow(name)) })),
})

/** Changes the registrations that a call saved, or what it found, before they are returned. */
const reporting = (change: (row: Registration, index: number) => Partial<Registration>): Partial<Steps> => ({
  reportSaved: saved => saved.map((row, index) => ({ ...row, ...change(row, index) })),
})
const finding = (
  change: (row: Registration, question: LookUp, hasWaited: boolean) => Partial<Registration>,
): Partial<Steps> => ({
  reportFound: (found, question, _tables, hasWaited) => ({
    ...found,
    registrations: found.registrations.map(row => ({ ...row, ...change(row, question, hasWaited) })),
  }),
})

/** Changes how long sweeps lease changes, or how long calls lease the changes that they save or find. */
const leasing = (what: 'sweep' | 'save' | 'find', lease: number): Partial<Steps> => ({
  lease: (milliseconds, by) => (by === what ? lease : milliseconds),
})

/** Leases all pending changes to a call that looks their domains up. */
const leasingNames: Partial<Steps> = {
  finishCall({ domains, covered = [], lease }, { waiting }) {
    const named = [...domains, ...covered.flatMap(wildcardsAbove)]
    for (const each of waiting.values())
      if (named.includes(each.change.domain)) each.due = Math.max(each.due, performance.now() + (lease ?? 0))
  },
}

/** Sweeps take changes in another order. */
const choosing = (order: (one: Waiting, other: Waiting) => number): Partial<Steps> => ({
  choose: (waiting, request, now) =>
    choose(waiting, { ...request, limit: 1000 }, now)
      .toSorted(order)
      .slice(0, request.limit),
})
const byDue = (one: Waiting, other: Waiting) => one.due - other.due
const byAge = (one: Waiting, other: Waiting) => one.change.at.getTime() - other.change.at.getTime()

/** Changes the options of `list`. */
const listing = (change: (page: ListPage, rows: readonly Row[]) => Partial<ListPage>): Partial<Steps> => ({
  list: (rows, page) => soundSteps.list(rows, { ...page, ...change(page, rows) }),
})

/** Replaces `synchronize`, the method that pushes the registrations of a call. */
const synchronizing = (
  synchronize: (registrations: readonly Registration[], ...rest: Parameters<Steps['wrap']>) => Promise<void>,
) => wrapped((store, ...rest) => ({ synchronize: registrations => synchronize(registrations, store, ...rest) }))

/** Changes the changes that are pushed. */
const pushing = (change: (change: Change) => Change): Partial<Steps> => ({
  push: (changes, context, push) => push(changes.map(change), context),
})

/** Pushes registrations as soon as it saves them. */
const pushingAtOnce = (more: Partial<SuiteStore> = {}) =>
  wrapped((store, _tables, { synchronize }) => ({
    async register(request) {
      const registered = await store.register(request)
      await synchronize?.(registered.saved.map(toRegistered), noSignal)
      return registered
    },
    ...more,
  }))

/** Changes the arguments of `release`, or the request of `import` or `transfer`. */
const releasing = (read: (domains: readonly string[]) => readonly string[]) =>
  wrapped(store => ({ release: async (teamId, domains) => store.release(teamId, read(domains)) }))
const importing = (change: (request: ImportRequest) => Partial<ImportRequest>) =>
  wrapped(store => ({
    import: request => store.import?.({ ...request, ...change(request) }) as Promise<ImportFindings>,
  }))
const transferring = (change: (request: TransferRequest) => Partial<TransferRequest>) =>
  wrapped(store => ({
    transfer: request => store.transfer?.({ ...request, ...change(request) }) as Promise<TransferredRegistrations>,
  }))

type Pair = (one: RegistrationStep, other: RegistrationStep) => boolean
const isAny: Pair = () => true
const isMixed: Pair = (one, other) => one.bases.length > 0 !== other.bases.length > 0
const isImportAndCall: Pair = (one, other) => 'domainIds' in one !== 'domainIds' in other
const areTransfers: Pair = (one, other) => 'from' in one && 'from' in other
const isOfOneTeam: Pair = (one, other) => one.teamId === other.teamId
const within =
  (isExempt: Pair): Pair =>
  (one, other) =>
    isOfOneTeam(one, other) && isExempt(one, other)
const between =
  (isExempt: Pair): Pair =>
  (one, other) =>
    !isOfOneTeam(one, other) && isExempt(one, other)

/** Makes calls wait for each other as they should, except for the pairs for which `isExempt` returns true. */
const lockUnless = (isExempt: Pair, mustWait: Pair = shareRegistrableDomain): Partial<Steps> => ({
  createLock: lockWhere((one, other) => mustWait(one, other) && !isExempt(one, other)),
})

const lockingDomainsOnly: Partial<Steps> = { createLock: lockWhere(shareRegistrableDomain) }

/**
 * Behaves like snapshot isolation: two calls wait for each other only if both write the same key. A call writes a
 * registrable domain as a key only if no name in it was saved before. Later calls do not wait for each other, so a
 * wildcard and a name below it can both be saved.
 */
function skewed(isExempt: Pair) {
  return (): Partial<Steps> => {
    const known = new Set<string>()
    return {
      ...lockUnless((one, other) => one.registrableDomains.every(domain => known.has(domain)) && isExempt(one, other)),
      finishCall: (_step, _tables, saved) => {
        for (const row of saved) known.add(row.registrableDomain)
      },
    }
  }
}

/** Locks registrable domains one at a time, in the order of the names in the call. */
function lockOneByOne() {
  const tails = new Map<string, Promise<void>>()
  return async (step: RegistrationStep) => {
    const ends: (() => void)[] = []
    for (const key of new Set(step.domains.map(domain => toTestName(domain).registrableDomain))) {
      const before = tails.get(key)
      const ended = Promise.all([before, new Promise<void>(resolve => ends.push(resolve))])
      tails.set(
        key,
        ended.then(() => {}),
      )
      await before
      await Promise.resolve()
    }
    return () => {
      for (const end of ends) end()
    }
  }
}

/** Releases a lock only if the call succeeds. */
function lockLeaking(): Partial<Steps> {
  const lock = soundSteps.createLock()
  const failed = new Set<RegistrationStep>()
  return {
    createLock: () => async step => {
      const unlock = await lock(step)
      return () => failed.has(step) || unlock()
    },
    recover: step => void failed.add(step),
  }
}

/** Numbers registrations without leading zeros. */
const numbering = wrapped(store => {
  const numbers = new Map<string, string>()
  const toNumber = (id: string) => numbers.get(id) ?? String(numbers.set(id, String(numbers.size)).size - 1)
  return {
    list: async options => (await store.list(options)).map(row => ({ ...row, domainId: toNumber(row.domainId) })),
  }
})

/** Adds a suffix to the IDs of some registrations. */
function changeIds({ rows }: Tables, isChanged: (row: Row) => boolean): void {
  for (const [index, row] of rows.entries()) if (isChanged(row)) rows[index] = { ...row, domainId: `${row.domainId}+` }
}

const leftOver: Row[] = []

/** One broken store for each case, in the order of the suite. */
// biome-ignore format: a table
export const brokenStores: readonly BrokenStore[] = [
  ['features-are-as-declared', 'has an undeclared method', {}, managedStoreFeatures.filter(each => each !== 'list')],

  ['finds-a-team', 'treats every team as active',
    { findTeam: (id, teams) => findTeam(id, teams.map(team => ({ ...team, state: 'active' }))) }],
  ['unknown-team-is-null', 'reads IDs as 64-bit numbers',
    { findTeam: (id, teams) => teams.find(team => toNumber(team.id) === toNumber(id)) ?? null }],
  ['teams-with-long-ids-are-told-apart', 'saves team IDs as doubles',
    saving(({ teamId }) => ({ teamId: String(Number(teamId)) }))],

  ['begins-empty', 'keeps the data of an earlier store', {
    createRows: () => [...leftOver],
    finishCall: (_step, _tables, saved) =>
      leftOver.push(...saved.filter(({ domain }) => domain.endsWith('left-over.com'))),
  }],
  ['registers-a-hundred-names', 'saves only the first 64 names of a call',
    { save: (rows, names, toRow) => [...save(rows, names.slice(0, 64), toRow), ...names.slice(64).map(toRow)] }],
  ['registers-nothing', 'returns null instead of an empty array if there is nothing to save',
    { reportSaved: (saved, { bases }, { registrations }) =>
      [saved, bases, registrations].flat().length > 0 ? saved : (null as never) }],
  ['registers-only-what-decide-returns', 'saves all names that were looked up',
    { decide: ({ domains }) => ({ created: domains.map(toTestName), waiting: [] }) }],
  ['returns-in-the-order-decided', 'returns registrations in the order of the lookups',
    { reportSaved: (saved, { domains }) => domains.flatMap(domain => saved.find(row => row.domain === domain) ?? []) }],
  ['returns-whole-registrations', 'uses the last two labels as the registrable domain',
    reporting(({ domain }) => toTestName(domain))],
  ['returns-no-other-fields', 'returns an extra field',
    { toRegistration: (row, tables) => ({ ...toRegistration(row, tables), row: 0 }) }],
  ['finds-what-it-returned', "hides the IDs of other teams' registrations",
    finding((row, { teamId }) => (row.teamId === teamId ? {} : { domainId: '' }))],
  ['ids-are-unique', 'has only 150 different IDs', () => {
    let next = 0
    return { createId: () => `00000000-0000-7000-8000-${String(next++ % 150).padStart(12, '0')}` }
  }],
  ['ids-are-stable', 'changes all IDs at each call',
    { finishCall: (_step, tables, saved) => changeIds(tables, row => !saved.includes(row)) }],
  ['duplicates-share-one-registration', 'gives all names of a call the same ID if they share a registrable domain',
    { createId: ({ registrableDomain }, call) => `${call}-${registrableDomain}` }],
  ['request-is-left-alone', 'reverses the array of registrable domains in the request',
    { decide: (step, found) => { (step.registrableDomains as string[]).reverse(); return step.decide(found) } }],

  ['finds-names-exactly', 'confuses a hyphen with a dot',
    { matches: (row, domain) => row.domain.replaceAll('-', '.') === domain.replaceAll('-', '.') }],
  ['finds-wildcards-exactly', 'finds a wildcard when a name below it is looked up',
    { matches: ({ domain: held }, domain) => held === domain || (isWildcard(held) && domain.endsWith(held.slice(1))) }],
  ['looks-up-thousands-of-names', 'looks up only a thousand names',
    hiding((row, { covered = [] }) => covered.flatMap(wildcardsAbove).indexOf(row.domain) >= 1000)],
  ['finds-wildcards-above', 'finds wildcards only above names of at most 100 labels',
    hiding(({ domain }, { covered = [] }) =>
      covered.some(each => depth(each) > 100 && wildcardsAbove(each).includes(domain)))],
  ['below-others', 'returns names of other teams', { summarize: (own, others, ...rest) =>
      ({ ...summarize(own, others, ...rest), ownDomains: toDomains([...own, ...others]) }) }],
  ['below-own', "counts other teams' names as the team's own", { summarize: (own, others, ...rest) =>
      ({ ...summarize(own, others, ...rest), ownCount: own.length && own.length + others.length }) }],
  ['below-counts-to-a-thousand', 'stops counting at a hundred',
    { summarize: (own, ...rest) => summarize(own.slice(0, 100), ...rest) }],
  ['below-any-depth', 'looks only five labels deep',
    { isBelow: (row, base) => isBelow(row, base) && depth(row.domain) - depth(base) <= 5 }],
  ['below-not-the-base', 'counts the base of a wildcard as a name below it',
    { isBelow: (row, base) => isBelow(row, base) || (row.domain === base && depth(row.domain) === 3) }],
  ['below-not-look-alikes', 'counts b-c.example.com as a name below b.example.com',
    { isBelow: (row, base) => isBelow(row, base) || row.domain.includes(`${base.split('.')[0]}-`) }],
  ['below-tells-suffixes-apart', 'ignores public suffixes', {
    summarize(own, others, behind, base) {
      const [ours, theirs] = ['1', '2'].map(id => behind.filter(({ teamId }) => teamId === id))
      return summarize([...own, ...(ours ?? [])], [...others, ...(theirs ?? [])], [], base)
    },
  }],
  ['below-finds-a-hundred-behind-suffixes', 'returns at most ten names in behindSuffixes',
    { summarize: (own, others, behind, base) => summarize(own, others, behind.slice(0, 10), base) }],
  ['below-answers-in-order', 'returns results in reverse order',
    { reportFound: found => ({ ...found, below: found.below.toReversed() }) }],

  ['overlap-created', 'counts example.com and notexample.com as names below example.com',
    { isBelow: (row, base) => row.domain.endsWith(base) }],
  ['overlap-existing', 'does not find IPv6 addresses', hiding(({ domain }) => isIPv6(domain))],
  ['overlap-wildcard-conflict', 'misses the wildcard of the calling team for names more than two labels below the base',
    hiding((row, { teamId, domains }) =>
      row.teamId === teamId && domains.some(each => depth(each) > depth(row.domain) + 1))],
  ['overlap-subdomain-conflict', "does not find a team's own names below a base",
    { summarize: (_own, ...rest) => summarize([], ...rest) }],
  ['overlap-with-another-team', 'does not find IPv4 addresses of other teams',
    hiding((row, { teamId }) => isIPv4(row.domain) && row.teamId !== teamId)],
  ['overlap-own-team-first', 'reports the conflict with another team if the calling team has only one conflicting name',
    { summarize: (own, others, ...rest) => summarize(own.length === 1 && others[0] ? [] : own, others, ...rest) }],
  ['overlap-within-one-call', 'loses names that were saved together with a wildcard',
    { finishCall: (_step, { rows }, saved) =>
      toDomains(saved).some(isWildcard) && remove(rows, saved.filter(({ domain }) => !isWildcard(domain))) }],
  ['two-teams-side-by-side', 'lets only the first team register names in a registrable domain', {
    finishCall({ teamId, registrableDomains }, { rows }) {
      const isTheirs = (row: Row) => row.teamId !== teamId && registrableDomains.includes(row.registrableDomain)
      if (rows.some(isTheirs)) throw new Error('Not yours')
    },
  }],

  ['suffix-list-found', "returns today's registrable domain of a name, not the saved one",
    { toRegistration: (row, tables) =>
      ({ ...toRegistration(row, tables), ...(!isWildcard(row.domain) && { registrableDomain: row.domain }) }) }],
  ['suffix-list-conflicts', 'does not find names whose registrable domain has changed',
    hiding(row => toTestName(row.domain).registrableDomain !== row.registrableDomain)],
  ['suffix-list-released', 'does not release names that cannot be registered today',
    { canRelease: (row, teamId) => row.teamId === teamId && row.domain !== '*.github.io' }],

  ['race-for-the-same-names', 'runs calls of the same team concurrently', lockUnless(within(isAny))],
  ['race-shows-what-was-saved', 'returns wrong IDs for existing names after it waited for a lock',
    finding((row, _question, hasWaited) => ({ domainId: hasWaited ? 'made-up' : row.domainId }))],
  ['race-between-teams', 'runs calls of different teams concurrently', lockUnless(between(isAny))],
  ['race-of-wildcard-and-name',
    'runs a call for names and a call for wildcards concurrently if the same team makes both',
    lockUnless(within(isMixed))],
  ['race-of-wildcard-and-name-between-teams',
    'runs a call for names and a call for wildcards concurrently if different teams make them',
    lockUnless(between(isMixed))],
  ['race-below-a-held-name', 'allows write skew between calls of one team', skewed(within(isMixed))],
  ['race-of-teams-below-a-held-name', 'allows write skew between calls of two teams', skewed(between(isMixed))],
  ['race-where-names-were-released', 'allows write skew once all earlier names have been released', skewed(isMixed)],
  ['race-in-opposite-order', 'locks registrable domains in the order in which a call lists its names',
    { createLock: lockOneByOne }],
  ['race-in-overlapping-batches', 'makes a call wait only for calls with exactly the same registrable domains',
    lockUnless((one, other) => String(one.registrableDomains) !== String(other.registrableDomains))],
  ['time-limit-is-kept', 'rejects at the time limit, but saves the names later', wrapped(store => ({
    register({ timeLimit, ...request }) {
      const late = new Promise<never>((_, reject) => setTimeout(reject, timeLimit, new Error('No answer')))
      return Promise.race([store.register({ ...request, timeLimit: 10_000 }), late])
    },
  }))],

  ['rejects-when-decide-throws', 'saves nothing, but succeeds, if decide throws',
    { decide: (step, found) => { try { return step.decide(found) } catch { return { created: [], waiting: [] } } } }],
  ['works-after-a-failure', 'keeps a lock after a failure', lockLeaking],
  ['saves-all-or-nothing', 'keeps the names that it saved before a failure',
    { save: (rows, names, toRow) => names.flatMap(name => save(rows, [name], toRow)) }],
  ['saves-the-last-decision', 'decides twice and saves the first decision',
    { decide: (step, found) => [step.decide(found), step.decide(found)][0] as ReturnType<Steps['decide']> }],
  ['save-does-not-replace', 'deletes all names of a call that fails',
    { recover: ({ domains }, { rows }) => remove(rows, rows.filter(({ domain }) => domains.includes(domain))) }],

  ['text-is-data', 'removes quotes from names', saving(({ domain }) => ({ domain: domain.replaceAll("'", '') }))],
  ['text-is-no-pattern', 'uses an unescaped LIKE to look up the names below a base', {
    isBelow(row, base) {
      const pattern = base.replace(/[.*?[\]\\]/g, '\\$&').replaceAll('_', '.').replaceAll('%', '.*')
      return new RegExp(`\\.${pattern}$`).test(row.domain) && row.domain !== `*.${base}`
    },
  }],
  ['names-of-object-fields', 'does not find names such as constructor, which is also a property of every object',
    hiding(row => row.domain in {})],
  ['longest-names', 'cuts names after 250 characters', saving(({ domain }) => ({ domain: domain.slice(0, 250) }))],
  ['international-names', 'does not find A-labels', hiding(row => row.domain.includes('xn--'))],

  ['without-synchronize-nothing-is-pending', 'has synchronize, but saves registrations as already synchronized',
    wrapped(() => ({ synchronize: () => {} }))],
  ['with-synchronize-new-ones-are-pending', 'returns only the first registration of a call as unsynchronized',
    reporting((_row, index) => (index > 0 ? { synchronized: true } : {}))],
  ['register-does-not-push', 'pushes registrations in register', pushingAtOnce()],
  ['synchronize-pushes-what-it-is-given', 'omits the registrable domain from a push',
    pushing(({ registrableDomain: _, ...rest }) => rest as Change)],
  ['synchronize-marks-what-was-pushed', 'marks all registrations as synchronized after any push',
    { finish: ({ waiting }) => waiting.clear() }],
  ['synchronize-twice', 'fails if it has to mark a registration as synchronized twice', {
    finish(tables, change) {
      if (!tables.waiting.has(change.domainId)) throw new Error('It is not pending')
      soundSteps.finish(tables, change)
    },
  }],
  ['synchronized-despite-an-earlier-release',
    'treats a registration as unsynchronized while an earlier release of the same name is pending', {
    toRegistration: (row, tables) => ({
      ...toRegistration(row, tables),
      synchronized: ![...tables.waiting.values()].some(({ change }) => change.domain === row.domain),
    }),
  }],
  ['synchronize-keeps-the-registration', 'gives each synchronized registration a new ID', {
    finish(tables, change) {
      soundSteps.finish(tables, change)
      changeIds(tables, () => true)
    },
  }],
  ['synchronize-marks-after-the-push', 'marks registrations as synchronized before it pushes them',
    synchronizing(async (registrations, store, { waiting }) => {
      for (const { domainId } of registrations) waiting.delete(domainId)
      await store.synchronize?.(registrations)
    })],
  ['synchronize-rejects-with-the-push', 'treats a failed push as a success',
    synchronizing(async (registrations, store) => { await Promise.allSettled([store.synchronize?.(registrations)]) })],
  ['failed-push-marks-nothing', 'marks registrations as synchronized even if their push fails',
    synchronizing(async (registrations, store, { waiting }) => {
      const [outcome] = await Promise.allSettled([store.synchronize?.(registrations)])
      for (const { domainId } of registrations) waiting.delete(domainId)
      if (outcome.status === 'rejected') throw outcome.reason
    })],
  ['retry-after-a-failed-push', 'fails if it has to push a registration again', () => {
    const tried = new Set<string>()
    return {
      push(changes, context, push) {
        if (changes.some(({ domainId }) => tried.has(domainId))) throw new Error('It was tried before')
        for (const { domainId } of changes) tried.add(domainId)
        return push(changes, context)
      },
    }
  }],
  ['later-is-not-now', 'pushes registrations inside the transaction',
    pushingAtOnce({ isInTransaction: true }), ['isInTransaction']],

  ['finds-what-register-finds', 'does not look up wildcards in find',
    wrapped(store => ({
      find: ({ domains, ...rest }) => store.find({ ...rest, domains: domains.filter(each => !isWildcard(each)) }),
    }))],
  ['find-registers-nothing', 'registers the names that find looks up', wrapped((store, { rows }) => ({
    async find(question) {
      const found = await store.find(question)
      const row = { domainId: '', registrableDomain: '', teamId: question.teamId, createdAt: new Date() }
      rows.push(...question.domains.map(domain => ({ ...row, domain })))
      return found
    },
  }))],
  ['find-extends-no-lease', 'leases the registrations that find returns, as register does', wrapped(store => ({
    find: async question =>
      (await store.register({ ...question, registrableDomains: [], timeLimit: 1000, decide: () => [] })).found,
  }))],
  ['gets-by-id', 'returns from get only registrations of one team', wrapped(store => ({
    get: async domainId => [await store.get(domainId)].find(found => found?.teamId === '1') ?? null,
  }))],

  ['release-frees-names', 'does not release wildcards',
    { remove: (rows, row) => !isWildcard(row.domain) && soundSteps.remove(rows, row) }],
  ['release-by-id', 'releases by name only, not by ID', releasing(domains => domains.filter(isLong))],
  ['release-of-a-wildcard-alone', 'releases a wildcard together with the names that it covers',
    { remove: (rows, row) => remove(rows, rows.filter(each => each === row || each.domain.endsWith('.example.com'))) }],
  ['release-passes-over-other-teams', 'releases the wildcards of all teams',
    { canRelease: (row, teamId) => row.teamId === teamId || isWildcard(row.domain) }],
  ['release-passes-over-what-is-not-there', 'fails if it has to release a string that is not a hostname',
    releasing(domains => {
      if (domains.includes('localhost')) throw new Error('That is no hostname')
      return domains
    })],
  ['release-in-any-spelling', 'releases only names in canonical spelling',
    releasing(domains => domains.filter(each => each === each.trim().toLowerCase()))],
  ['release-refuses-what-is-no-list', 'treats a string as an array of one name',
    releasing(domains => [domains].flat())],
  ['release-ends-an-id', 'reuses the old ID of a name', () => {
    const ids = new Map<string, string>()
    return {
      createId(name, call) {
        const id = ids.get(name.domain) ?? soundSteps.createId(name, call)
        ids.set(name.domain, id)
        return id
      },
    }
  }],
  ['release-during-a-push', 'saves each registration again after its push',
    { finish: ({ rows }, change) => void rows.push({ ...change, createdAt: new Date() }) }],
  ['counts-registrations', 'counts the registrations of all teams', wrapped(store => ({ count: () => store.count() }))],

  ['call-keeps-what-it-saved', 'lets a sweep push new registrations just after a call has saved them',
    leasing('save', 0)],
  ['call-keeps-what-it-found', 'lets a sweep push pending registrations just after a call has found them',
    leasing('find', 0)],
  ['call-hastens-nothing', 'retries a postponed change too early, as soon as the lease of a call ends', {
    finishCall({ lease }, { waiting }) {
      for (const each of waiting.values()) each.due = performance.now() + (lease ?? 0)
    },
  }],
  ['leases-nothing-to-another-team', 'leases pending registrations to the calls of all teams', leasingNames],
  ['leases-no-wildcard-above', 'leases a pending wildcard to each call that names a hostname below it', leasingNames],
  ['sweep-takes-what-a-call-left', 'leases new registrations to their call for an hour', leasing('save', 3_600_000)],
  ['pending-survive-a-failed-push', 'forgets changes whose push fails',
    { postpone: ({ waiting }, { change }) => void waiting.delete(change.domainId) }],
  ['pending-oldest-first', 'pushes the newest changes first', choosing((one, other) => byAge(other, one))],
  ['pending-in-the-order-of-due-times', 'pushes the oldest change first, even if it became due last', choosing(byAge)],
  ['pending-within-the-limit', 'ignores the limit of a sweep',
    { choose: (waiting, request, now) => choose(waiting, { ...request, limit: 1000 }, now) }],
  ['pushes-in-batches', 'pushes all changes at once, ignoring batchSize', { batchSize: () => undefined }],
  ['teams-take-turns', 'pushes the changes that have been due the longest, whichever team has them', choosing(byDue)],
  ['teams-with-nothing-due-take-no-turn', 'lets only a hundred teams take turns, whether or not their changes are due',
    { choose(waiting, ...rest) {
      const teams = [...new Set(waiting.map(({ change }) => change.teamId))].sort().slice(0, 100)
      return choose(waiting.filter(({ change }) => teams.includes(change.teamId)), ...rest)
    } }],
  ['each-sweep-in-a-new-process', 'remembers in the process how often a change was refused', {
    reopen: ({ rows, waiting }) => {
      const forgotten = [...waiting].map(([id, each]) => [id, { ...each, sweeps: 0, refusals: 0 }] as const)
      return { rows, waiting: new Map(forgotten) }
    },
  }],
  ['sweeps-are-counted', 'does not count the sweeps that take a change', { countSweep: () => {} }],
  ['pending-is-shared', 'does not lease changes to a sweep', leasing('sweep', 0)],
  ['release-is-pushed', 'pushes the release of a wildcard as a registration',
    pushing(change => (isWildcard(change.domain) ? { ...change, kind: 'registered' } : change))],
  ['release-overtakes-nothing', 'makes every release due immediately, even while its registration is being pushed',
    { recordRelease: row => toWaiting(row, 'released', 0) }],
  ['release-of-what-was-never-pushed', 'pushes a registration although it has been released',
    { recordRelease: (row, before, lease) => before ?? soundSteps.recordRelease(row, before, lease) }],
  ['registered-again-is-watched', 'treats a registration as never pushed if it is not marked as synchronized',
    { recordRelease: (row, before, lease) => (before ? undefined : soundSteps.recordRelease(row, before, lease)) }],
  ['release-outlives-a-failed-push',
    'postpones a registration whose push failed, instead of the release that followed it', {
    postpone({ waiting }, { change, wait }) {
      const found = waiting.get(change.domainId)
      if (found) waiting.set(change.domainId, { ...found, change, due: performance.now() + wait })
    },
  }],
  ['push-gets-a-signal', 'passes a signal that never aborts',
    { push: (changes, _context, push) => push(changes, noSignal) }],
  ['sweep-ends-when-told', 'continues a sweep after its signal has aborted',
    wrapped(store => ({ synchronizePending: ({ limit } = {}) => store.synchronizePending({ limit }) }))],

  ['refused-in-a-call-alone', 'fails a whole call if one change is refused',
    synchronizing(async (registrations, store, _tables, setup) => {
      await setup.synchronize?.(registrations.map(toRegistered), noSignal)
      await store.synchronize?.(registrations)
    })],
  ['refused-in-a-sweep-alone', 'fails if it has to push a change alone', {
    push(changes, context, push) {
      if (changes.length === 1) throw new Error('One change is too few')
      return push(changes, context)
    },
  }],
  ['refused-is-told', 'does not report refusals',
    wrapped(store => ({ synchronizePending: options => store.synchronizePending({ ...options, onError: () => {} }) }))],
  ['refused-waits', 'retries refused changes immediately',
    { postpone: (tables, postponement) => soundSteps.postpone(tables, { ...postponement, wait: 0 }) }],
  ['monitor-that-is-away', 'pushes each change alone', synchronizing(async (registrations, store) => {
    await Promise.all(registrations.map(async registration => store.synchronize?.([registration])))
  })],
  ['refused-let-new-ones-pass', 'pushes the oldest pending changes first, even if they were refused', {
    choose: (waiting, { limit }, now) => waiting.filter(({ due }) => due <= now).toSorted(byDue).slice(0, limit),
  }],
  ['refused-is-shared', 'leases only new changes to a sweep',
    { choose: (...all) => choose(...all).map(each => (each.refusals > 0 ? { ...each } : each)) }],
  ['refused-by-due-time', 'pushes the change with the most refusals last, even if that change has been due the longest',
    choosing((one, other) => one.refusals - other.refusals)],
  ['refused-is-told-to-its-own-sweep', 'reports failures of all sweeps to the onError of the latest sweep', () => {
    let latest: SweepOptions['onError']
    return wrapped(store => ({
      synchronizePending(options = {}) {
        latest = options.onError ?? latest
        return store.synchronizePending({ ...options, onError: (...told) => latest?.(...told) })
      },
    }))
  }],

  ['counts-what-waits', 'counts only pending changes that are due',
    wrapped((_store, { waiting }) => ({
      countPending: () => [...waiting.values()].filter(({ due }) => due <= performance.now()).length,
    }))],
  ['counts-nothing-without-synchronize', 'counts changes as pending if there is no monitor',
    wrapped(() => ({ countPending: () => 2 }))],
  ['records-nothing-without-a-monitor', 'records releases if there is no monitor', { isRecorded: () => true }],
  ['retries-when-told', 'retries all changes, regardless of the given IDs',
    wrapped(store => ({ retryPending: options => store.retryPending({ ...options, domainIds: undefined }) }))],
  ['retries-after-an-outage', 'retries only changes that the monitor refused', wrapped((store, { waiting }) => ({
    retryPending: ({ domainIds = [...waiting.keys()] } = {}) =>
      store.retryPending({ domainIds: domainIds.filter(id => (waiting.get(id)?.refusals ?? 0) > 0) }),
  }))],
  ['retry-takes-nothing-from-a-push', 'retries changes that are leased to a call', wrapped((store, { waiting }) => ({
    retryPending(options) {
      for (const each of waiting.values()) if (each.refusals === 0) each.due = 0
      return store.retryPending(options)
    },
  }))],
  ['says-since-when-it-waits', 'does not count refused changes',
    wrapped(store => ({ pendingStats: async () => ({ ...(await store.pendingStats()), refused: 0 }) }))],
  ['settles-when-told', 'settles all changes, regardless of the given IDs', wrapped((store, { waiting }) => ({
    async settlePending(options) {
      const settled = await store.settlePending(options)
      if (settled > 0) waiting.clear()
      return settled
    },
  }))],
  ['release-inherits-no-failure', 'counts the refusals of a registration as refusals of its release',
    { recordRelease: (row, before) => ({ ...toWaiting(row, 'released', 0), refusals: before?.refusals ?? 0 }) }],
  ['calls-count-one-refusal', 'counts each failure of a repeated call', {
    postpone(tables, { change, refusals, ...rest }) {
      const before = tables.waiting.get(change.domainId)?.refusals ?? 0
      soundSteps.postpone(tables, { ...rest, change, refusals: before + refusals })
    },
  }],
  ['shows-what-waits', 'does not say why a change was refused', wrapped(store => ({
    listPending: async options => (await store.listPending(options)).map(each => ({ ...each, lastFailure: null })),
  }))],
  ['keeps-the-last-failure', 'forgets the last failure of a change if a sweep is stopped', {
    postpone(tables, postponement) {
      soundSteps.postpone(tables, postponement)
      const found = tables.waiting.get(postponement.change.domainId)
      if (found) found.lastFailure = postponement.failure ?? null
    },
  }],
  ['shows-what-waits-by-page', 'ignores the cursor of a page',
    wrapped(store => ({ listPending: ({ after: _, ...options } = {}) => store.listPending(options) }))],

  ['lists-in-order', 'sorts long lists by name', {
    list: (rows, page) =>
      rows.length === 54
        ? rows.toSorted((one, other) => (one.domain < other.domain ? -1 : 1)).slice(0, page.limit)
        : soundSteps.list(rows, page),
  }],
  ['lists-ascending-ids', 'numbers registrations without leading zeros', numbering],
  ['lists-whole-registrations', 'returns 1970 as the time of creation',
    { list: (...all) => soundSteps.list(...all).map(row => ({ ...row, createdAt: new Date(0) })) }],
  ['lists-a-team', 'lists the registrations of all teams for an unknown team',
    listing(({ teamId }) => (teamId === '77' ? { teamId: undefined } : {}))],
  ['lists-by-page', 'treats a limit of 0 as no limit', listing(({ limit }) => ({ limit: limit || 1000 }))],
  ['lists-a-thousand-by-default', 'lists more than a thousand registrations by default',
    listing(({ limit }) => ({ limit: limit === 1000 ? 2000 : limit }))],
  ['lists-the-newest-first', 'ignores the cursor if the newest registrations are listed first',
    listing(({ order, after }) => ({ after: order === 'newest' ? undefined : after }))],
  ['lists-one-domain', 'lists a given name even if another team registered it',
    listing(({ domain, teamId }) => ({ teamId: domain ? undefined : teamId }))],
  ['lists-below', 'omits the wildcard whose base is the given name',
    { list: (rows, page) => soundSteps.list(rows, page).filter(({ domain }) => domain !== `*.${page.below}`) }],
  ['lists-nothing-for-wrong-options', 'ignores an unknown order',
    wrapped(store => ({ list: options => store.list((options?.order as string) === 'up' ? {} : options) }))],
  ['lists-after-what-is-gone', 'starts again from the beginning if the registration at the cursor was released',
    listing(({ below, after }, rows) => ({ after: below || rows.some(row => row.domainId === after) ? after : '' }))],

  ['team-count', 'counts the registrations of all teams', { count: rows => rows.length }],
  ['team-count-by-find', 'counts registrations in register, but not in find', wrapped(store => ({
    find: async question => ({ ...(await store.find(question)), teamCount: undefined as never }),
  }))],
  ['team-count-is-less-after-a-release', 'never lowers its count of registrations', () => {
    let most = 0
    return { count: (rows, teamId) => (most = Math.max(most, soundSteps.count(rows, teamId))) }
  }],
  ['limit-is-kept', 'forgets the limit of a team',
    { findTeam: (id, teams) => ({ ...(findTeam(id, teams) as Team), maxDomains: null }) }],
  ['race-under-a-limit', 'locks registrable domains, but not teams with a limit', lockingDomainsOnly],

  ['imports-as-given', 'imports all registrations into one team',
    importing(({ decide }) => ({ decide: found => decide(found).map(row => ({ ...row, teamId: '1' })) }))],
  ['import-finds-ids', 'does not report which IDs of an import are already used', importing(() => ({ domainIds: [] }))],
  ['import-tells-the-monitor-the-rest', 'treats all imported registrations as synchronized',
    importing(({ decide }) => ({ decide: found => decide(found).map(row => ({ ...row, synchronized: true })) }))],
  ['import-and-release-without-a-monitor', 'records no release if it does not push', { isRecorded: () => false }],
  ['import-and-calls-exclude-each-other', 'runs imports and calls concurrently', lockUnless(isImportAndCall)],

  ['transfers-what-a-team-holds', 'transfers by name only, not by ID',
    transferring(({ domains }) => ({ domains: domains.filter(isLong) }))],
  ['transfer-counts', 'does not check the limit of the new team in a transfer',
    transferring(() => ({ needsCount: false }))],
  ['transfer-keeps-names-watched', 'does not push the two changes of a transfer in order', { mustFollow: () => false }],
  ['transfer-of-what-is-pending', 'pushes the release of the first ID too early after a second transfer',
    { follow: () => {} }],
  ['transfer-is-due', 'never pushes the release of a former ID',
    { choose: (waiting, ...rest) => choose(waiting.filter(({ follows }) => follows === undefined), ...rest) }],
  ['transfer-overtakes-nothing', 'pushes the release of a former ID before the lease of a push ends',
    {
    choose: (waiting, { line }, now) =>
      waiting.filter(({ due, follows }) => line === 'new' && (due <= now || follows !== undefined)),
  }],
  ['transfer-and-release', 'forgets the release of a former ID once the new ID has been released',
    { mustFollow: followed => followed?.follows === undefined || soundSteps.mustFollow(followed) }],
  ['transfer-and-settle', 'forgets the release of a former ID once the registration of the new ID is settled',
    wrapped((store, { waiting }) => ({
      settlePending(options) {
        for (const [domainId, { follows = '' }] of waiting)
          if (options.domainIds.includes(follows)) waiting.delete(domainId)
        return store.settlePending(options)
      },
    }))],
  ['race-of-transfers', 'runs transfers concurrently', lockUnless(areTransfers, mustTakeTurns)],
  ['race-of-transfers-under-a-limit', 'locks registrable domains, but not teams with a limit, in transfers',
    lockingDomainsOnly],
]
