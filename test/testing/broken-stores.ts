import { changeOf, type SweepOptions } from '../../src/outbox/contract.ts'
import { isWildcard } from '../../src/rules/name.ts'
import type { Change, ImportFindings, ImportRequest, LookUp, Registration, Team } from '../../src/rules/registration.ts'
import type { ListPage } from '../../src/store/arguments.ts'
import type { TransferRequest, TransferredRegistrations } from '../../src/store/contract.ts'
import type { ManagedStore, RegistrationStep } from '../../src/store/managed-store.ts'
import { managedStoreFeatures, type StoreFeature, type StoreSetup, type SuiteStore } from '../../src/testing/index.ts'
import {
  createNaiveStore,
  lockWhere,
  mustTakeTurns,
  type Row,
  type Steps,
  shareRegistrableDomain,
  soundSteps,
  type Tables,
  toWaiting,
} from './naive-store.ts'

/** A store with one defect. */
export interface BrokenStore {
  /** The case of the suite that must find the defect. */
  readonly id: string
  readonly breaks: string
  readonly features?: readonly StoreFeature[]
  createStore(setup: StoreSetup): SuiteStore
}

function broken(id: string, breaks: string, changes: Partial<Steps> | (() => Partial<Steps>)): BrokenStore {
  const create = typeof changes === 'function' ? changes : () => changes
  return { id, breaks, createStore: setup => createNaiveStore(setup, create()) }
}

/** Replaces methods of a correct store. */
const wrapped = (
  id: string,
  breaks: string,
  replace: (store: ManagedStore, tables: Tables, setup: StoreSetup) => Partial<SuiteStore>,
) => broken(id, breaks, { wrap: (store, ...rest) => ({ ...store, ...replace(store as ManagedStore, ...rest) }) })

const depth = (domain: string) => domain.split('.').length
const isIPv4 = (domain: string) => /^[\d.]+$/.test(domain)
const registrable = ({ domain }: { domain: string }) => domain.split('.').slice(-2).join('.')
const remove = (rows: Row[], row: Row | undefined) => row && soundSteps.remove(rows, row)
const { matches, isBelow, summarize } = soundSteps

/** A store that does not find some registrations. */
const hiding = (id: string, breaks: string, isHidden: (row: Row, question: LookUp) => boolean) =>
  broken(id, breaks, {
    matches: (row, domain, question) => matches(row, domain, question) && !isHidden(row, question),
  })

/** A store that saves something other than the given names. */
const savingAs = (id: string, breaks: string, change: (row: Row) => Partial<Row>) =>
  broken(id, breaks, {
    save: (rows, names, toRow) => soundSteps.save(rows, names, name => ({ ...toRow(name), ...change(toRow(name)) })),
  })

/** Changes how long sweeps lease changes, or how long calls lease the changes that they save or find. */
const leasing = (id: string, breaks: string, what: 'sweep' | 'save' | 'find', lease: number) =>
  broken(id, breaks, { lease: (milliseconds, by) => (by === what ? lease : milliseconds) })

/** Changes the options of `list`. */
const listing = (id: string, breaks: string, change: (page: ListPage, rows: readonly Row[]) => Partial<ListPage>) =>
  broken(id, breaks, { list: (rows, page) => soundSteps.list(rows, { ...page, ...change(page, rows) }) })

type Pair = (one: RegistrationStep, other: RegistrationStep) => boolean
const isAny: Pair = () => true
const isMixed: Pair = (one, other) => one.bases.length > 0 !== other.bases.length > 0
const within =
  (isExempt: Pair): Pair =>
  (one, other) =>
    one.teamId === other.teamId && isExempt(one, other)
const between =
  (isExempt: Pair): Pair =>
  (one, other) =>
    one.teamId !== other.teamId && isExempt(one, other)

/** Makes calls wait for each other as they should, except for the pairs for which `isExempt` returns true. */
const lockUnless = (isExempt: Pair) => ({
  createLock: lockWhere((one, other) => shareRegistrableDomain(one, other) && !isExempt(one, other)),
})

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
    for (const key of new Set(step.domains.map(domain => registrable({ domain })))) {
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

/** Replaces `synchronize`, the method that pushes the registrations of a call. */
const pushing = (
  id: string,
  breaks: string,
  synchronize: (registrations: readonly Registration[], ...rest: Parameters<Steps['wrap']>) => Promise<void>,
) =>
  wrapped(id, breaks, (store, ...rest) => ({
    synchronize: registrations => synchronize(registrations, store, ...rest),
  }))

/** Changes the arguments of `release`. */
const releasing = (id: string, breaks: string, read: (domains: readonly string[]) => readonly string[]) =>
  wrapped(id, breaks, store => ({ release: async (teamId, domains) => store.release(teamId, read(domains)) }))

const toRegistered = (registration: Registration) => changeOf(registration, 'registered')

/** Pushes registrations as soon as it saves them. */
const pushSaved: Parameters<typeof wrapped>[2] = (store, _tables, { synchronize }) => ({
  async register(request) {
    const registered = await store.register(request)
    await synchronize?.(registered.saved.map(toRegistered), noSignal)
    return registered
  },
})
const noSignal = { signal: new AbortController().signal }

const leftOver: Row[] = []

const ofRegistering: readonly BrokenStore[] = [
  broken('finds-a-team', 'treats every team as active', {
    findTeam: (id, teams) =>
      teams.filter(team => team.id === id).map(team => ({ ...team, state: 'active' as const }))[0] ?? null,
  }),
  broken('unknown-team-is-null', 'reads IDs as 64-bit numbers', {
    findTeam: (id, teams) =>
      teams.find(team => BigInt.asUintN(64, BigInt(team.id)) === BigInt.asUintN(64, BigInt(id))) ?? null,
  }),
  savingAs('teams-with-long-ids-are-told-apart', 'saves team IDs as doubles', ({ teamId }) => ({
    teamId: String(Number(teamId)),
  })),

  broken('begins-empty', 'keeps the data of an earlier store', {
    createRows: () => [...leftOver],
    finishCall: (_step, _tables, saved) =>
      void leftOver.push(...saved.filter(row => row.registrableDomain === 'left-over.com')),
  }),
  broken('registers-a-hundred-names', 'saves only the first 64 names of a call', {
    save(rows, names, toRow) {
      const saved = names.map(toRow)
      rows.push(...saved.slice(0, 64))
      return saved
    },
  }),
  broken('registers-nothing', 'returns null instead of an empty array if there is nothing to save', {
    reportSaved: (saved, { domains, bases }, { registrations }) =>
      saved.length + registrations.length + bases.length === 0 && domains.length === 1 ? (null as never) : saved,
  }),
  broken('registers-only-what-decide-returns', 'saves all names that were looked up', {
    decide: ({ domains }, _found) => ({
      created: domains.map(domain => ({ domain, registrableDomain: registrable({ domain }) })),
      waiting: [],
    }),
  }),
  broken('returns-in-the-order-decided', 'returns registrations in the order of the lookups', {
    reportSaved: (saved, { domains }) =>
      saved.toSorted((one, other) => domains.indexOf(one.domain) - domains.indexOf(other.domain)),
  }),
  broken('returns-whole-registrations', 'uses the last two labels as the registrable domain', {
    reportSaved: saved => saved.map(row => ({ ...row, registrableDomain: registrable(row) })),
  }),
  broken('returns-no-other-fields', 'returns an extra field', {
    toRegistration: (row, tables) => ({ ...soundSteps.toRegistration(row, tables), row: 0 }),
  }),
  broken('finds-what-it-returned', "hides the IDs of other teams' registrations", {
    reportFound: (found, { teamId }) => ({
      ...found,
      registrations: found.registrations.map(row => (row.teamId === teamId ? row : { ...row, domainId: '' })),
    }),
  }),
  broken('ids-are-unique', 'has only 150 different IDs', () => {
    let next = 0
    return { createId: () => `00000000-0000-7000-8000-${String(next++ % 150).padStart(12, '0')}` }
  }),
  broken('ids-are-stable', 'changes all IDs at each call', {
    finishCall(_step, { rows }, saved) {
      for (const [index, row] of rows.entries())
        if (!saved.includes(row)) rows[index] = { ...row, domainId: `${row.domainId}+` }
    },
  }),
  broken(
    'duplicates-share-one-registration',
    'gives all names of a call the same ID if they share a registrable domain',
    {
      createId: ({ registrableDomain }, call) => `${call}-${registrableDomain}`,
    },
  ),
  broken('request-is-left-alone', 'reverses the array of registrable domains in the request', {
    decide(step, found) {
      ;(step.registrableDomains as string[]).reverse()
      return step.decide(found)
    },
  }),

  broken('finds-names-exactly', 'confuses a hyphen with a dot', {
    matches: (row, domain) => row.domain.replaceAll('-', '.') === domain.replaceAll('-', '.'),
  }),
  broken('finds-wildcards-exactly', 'finds a wildcard when a name below it is looked up', {
    matches: (row, domain, question) =>
      matches(row, domain, question) || (isWildcard(row.domain) && domain.endsWith(row.domain.slice(1))),
  }),
  broken('looks-up-thousands-of-names', 'looks up only a thousand names', {
    reportFound: (found, { domains }) => {
      const looked = new Set(domains.slice(0, 1000))
      return { ...found, registrations: found.registrations.filter(({ domain }) => looked.has(domain)) }
    },
  }),
  broken('below-others', 'returns names of other teams if there is more than one', {
    summarize: (own, others, ...rest) => ({
      ...summarize(own, others, ...rest),
      ...(own.length === 0 && others.length > 1 && { ownDomains: others.map(({ domain }) => domain) }),
    }),
  }),
  broken('below-own', "counts other teams' names as the team's own", {
    summarize: (own, others, ...rest) => ({
      ...summarize(own, others, ...rest),
      ownCount: own.length === 0 ? 0 : own.length + others.length,
    }),
  }),
  broken('below-counts-to-a-thousand', 'stops counting at a hundred', {
    summarize: (own, ...rest) => summarize(own.slice(0, 100), ...rest),
  }),
  broken('below-any-depth', 'looks only five labels deep', {
    isBelow: (row, base) => isBelow(row, base) && depth(row.domain) - depth(base) <= 5,
  }),
  broken('below-not-the-base', 'counts the base of a wildcard as a name below it', {
    isBelow: (row, base) => isBelow(row, base) || (row.domain === base && depth(row.domain) === 3),
  }),
  broken('below-not-look-alikes', 'counts b-c.example.com as a name below b.example.com', {
    isBelow: (row, base) => isBelow(row, base) || row.domain.includes(`${base.split('.')[0]}-`),
  }),
  broken('below-tells-suffixes-apart', 'ignores public suffixes', {
    summarize: (own, others, behind, base) => {
      const isOwn = ({ teamId }: Row) => teamId === '1'
      return summarize([...own, ...behind.filter(isOwn)], [...others, ...behind.filter(row => !isOwn(row))], [], base)
    },
  }),
  broken('below-finds-a-hundred-behind-suffixes', 'returns at most ten names in behindSuffixes', {
    summarize: (own, others, behind, base) => summarize(own, others, behind.slice(0, 10), base),
  }),
  broken('below-answers-in-order', 'returns results in reverse order', {
    reportFound: found => ({ ...found, below: found.below.toReversed() }),
  }),

  broken('overlap-created', 'counts example.com and notexample.com as names below example.com', {
    isBelow: (row, base) => row.domain.endsWith(base),
  }),
  hiding('overlap-existing', 'does not find IPv6 addresses', row => /^[\da-f]+:[\da-f:]+$/.test(row.domain)),
  hiding(
    'overlap-wildcard-conflict',
    'misses the wildcard of the calling team for names more than two labels below the base',
    (row, { teamId, domains }) =>
      row.teamId === teamId && domains.some(domain => depth(domain) > depth(row.domain) + 1),
  ),
  broken('overlap-subdomain-conflict', "does not find a team's own names below a base", {
    summarize: (_own, ...rest) => summarize([], ...rest),
  }),
  hiding(
    'overlap-with-another-team',
    'does not find IPv4 addresses of other teams',
    (row, { teamId }) => isIPv4(row.domain) && row.teamId !== teamId,
  ),
  broken(
    'overlap-own-team-first',
    'reports the conflict with another team if the calling team has only one conflicting name',
    {
      summarize: (own, others, ...rest) => summarize(own.length === 1 && others.length > 0 ? [] : own, others, ...rest),
    },
  ),
  broken('overlap-within-one-call', 'loses names that were saved together with a wildcard', {
    finishCall(_step, { rows }, saved) {
      if (!saved.some(({ domain }) => isWildcard(domain))) return
      for (const row of saved.filter(({ domain }) => !isWildcard(domain))) remove(rows, row)
    },
  }),
  broken('two-teams-side-by-side', 'lets only the first team register names in a registrable domain', {
    finishCall({ teamId, registrableDomains }, { rows }) {
      const others = rows.filter(row => row.teamId !== teamId)
      if (others.some(row => registrableDomains.includes(row.registrableDomain))) throw new Error('Not yours')
    },
  }),

  broken('suffix-list-found', "returns today's registrable domain of a name, not the saved one", {
    toRegistration: (row, tables) => ({
      ...soundSteps.toRegistration(row, tables),
      registrableDomain: isWildcard(row.domain) ? row.registrableDomain : row.domain,
    }),
  }),
  hiding(
    'suffix-list-conflicts',
    'does not find names whose registrable domain has changed',
    row => registrable(row) !== row.registrableDomain,
  ),
  broken('suffix-list-released', 'does not release names that cannot be registered today', {
    canRelease: (row, teamId) => row.teamId === teamId && row.domain !== '*.github.io',
  }),
]

const ofConcurrency: readonly BrokenStore[] = [
  broken('race-for-the-same-names', 'runs calls of the same team concurrently', lockUnless(within(isAny))),
  broken('race-shows-what-was-saved', 'returns wrong IDs for existing names after it waited for a lock', {
    reportFound: (found, _question, _tables, hasWaited) => ({
      ...found,
      registrations: found.registrations.map(row =>
        hasWaited && row.domain === row.registrableDomain ? { ...row, domainId: 'made-up' } : row,
      ),
    }),
  }),
  broken('race-between-teams', 'runs calls of different teams concurrently', lockUnless(between(isAny))),
  broken(
    'race-of-wildcard-and-name',
    'runs a call for names and a call for wildcards concurrently if the same team makes both',
    lockUnless(within(isMixed)),
  ),
  broken(
    'race-of-wildcard-and-name-between-teams',
    'runs a call for names and a call for wildcards concurrently if different teams make them',
    lockUnless(between(isMixed)),
  ),
  broken('race-below-a-held-name', 'allows write skew between calls of one team', skewed(within(isMixed))),
  broken('race-of-teams-below-a-held-name', 'allows write skew between calls of two teams', skewed(between(isMixed))),
  broken(
    'race-where-names-were-released',
    'allows write skew once all earlier names have been released',
    skewed(isMixed),
  ),
  broken('race-in-opposite-order', 'locks registrable domains in the order in which a call lists its names', {
    createLock: lockOneByOne,
  }),
  broken(
    'race-in-overlapping-batches',
    'makes a call wait only for calls with exactly the same registrable domains',
    lockUnless((one, other) => String(one.registrableDomains) !== String(other.registrableDomains)),
  ),
  wrapped('time-limit-is-kept', 'rejects at the time limit, but saves the names later', store => ({
    register({ timeLimit, ...request }) {
      const late = new Promise<never>((_, reject) => setTimeout(reject, timeLimit, new Error('No answer')))
      return Promise.race([store.register({ ...request, timeLimit: 10_000 }), late])
    },
  })),

  broken('rejects-when-decide-throws', 'saves nothing, but succeeds, if decide throws', {
    decide(step, found) {
      try {
        return step.decide(found)
      } catch {
        return { created: [], waiting: [] }
      }
    },
  }),
  broken('works-after-a-failure', 'keeps a lock after a failure', lockLeaking),
  broken('saves-all-or-nothing', 'keeps the names that it saved before a failure', {
    save: (rows, names, toRow) =>
      names.map(name => {
        const row = toRow(name)
        rows.push(row)
        return row
      }),
  }),
  broken('saves-the-last-decision', 'decides twice and saves the first decision', {
    decide(step, found) {
      const first = step.decide(found)
      step.decide(found)
      return first
    },
  }),
  broken('save-does-not-replace', 'deletes all names of a call that fails', {
    recover({ domains }, { rows }) {
      for (const row of rows.filter(({ domain }) => domains.includes(domain))) remove(rows, row)
    },
  }),

  savingAs('text-is-data', 'removes quotes from names', ({ domain }) => ({ domain: domain.replaceAll("'", '') })),
  broken('text-is-no-pattern', 'uses an unescaped LIKE to look up the names below a base', {
    isBelow(row, base) {
      const escaped = base.replace(/[.*?[\]\\]/g, '\\$&')
      const pattern = escaped.replaceAll('_', '.').replaceAll('%', '.*')
      return new RegExp(`\\.${pattern}$`).test(row.domain) && row.domain !== `*.${base}`
    },
  }),
  hiding(
    'names-of-object-fields',
    'does not find names such as constructor, which is also a property of every object',
    row => row.domain in {},
  ),
  savingAs('longest-names', 'cuts names after 250 characters', ({ domain }) => ({ domain: domain.slice(0, 250) })),
  hiding('international-names', 'does not find A-labels', row => row.domain.includes('xn--')),
]

const ofSynchronizing: readonly BrokenStore[] = [
  wrapped(
    'without-synchronize-nothing-is-pending',
    'has synchronize, but saves registrations as already synchronized',
    () => ({
      synchronize: () => {},
    }),
  ),
  broken('with-synchronize-new-ones-are-pending', 'returns only the first registration of a call as unsynchronized', {
    reportSaved: saved => saved.map((row, index) => (index > 0 ? { ...row, synchronized: true } : row)),
  }),
  wrapped('register-does-not-push', 'pushes registrations in register', pushSaved),
  broken('synchronize-pushes-what-it-is-given', 'omits the registrable domain from a push', {
    push: (changes, context, push) =>
      push(
        changes.map(({ registrableDomain: _, ...rest }) => rest as Change),
        context,
      ),
  }),
  broken('synchronize-marks-what-was-pushed', 'marks all registrations as synchronized after any push', {
    finish: ({ waiting }) => waiting.clear(),
  }),
  broken('synchronize-twice', 'fails if it has to mark a registration as synchronized twice', {
    finish(tables, change) {
      if (!tables.waiting.has(change.domainId)) throw new Error('It is not pending')
      soundSteps.finish(tables, change)
    },
  }),
  broken(
    'synchronized-despite-an-earlier-release',
    'treats a registration as unsynchronized while an earlier release of the same name is pending',
    {
      toRegistration: (row, tables) => ({
        ...soundSteps.toRegistration(row, tables),
        synchronized: ![...tables.waiting.values()].some(({ change }) => change.domain === row.domain),
      }),
    },
  ),
  broken('synchronize-keeps-the-registration', 'gives each synchronized registration a new ID', {
    finish(tables, change) {
      soundSteps.finish(tables, change)
      for (const [index, row] of tables.rows.entries()) tables.rows[index] = { ...row, domainId: `${row.domainId}+` }
    },
  }),
  pushing(
    'synchronize-marks-after-the-push',
    'marks registrations as synchronized before it pushes them',
    async (registrations, store, { waiting }) => {
      for (const { domainId } of registrations) waiting.delete(domainId)
      await store.synchronize?.(registrations)
    },
  ),
  pushing('synchronize-rejects-with-the-push', 'treats a failed push as a success', async (...call) => {
    const [registrations, store] = call
    await Promise.resolve(store.synchronize?.(registrations)).catch(() => {})
  }),
  pushing(
    'failed-push-marks-nothing',
    'marks registrations as synchronized even if their push fails',
    async (registrations, store, { waiting }) => {
      try {
        await store.synchronize?.(registrations)
      } finally {
        for (const { domainId } of registrations) waiting.delete(domainId)
      }
    },
  ),
  broken('retry-after-a-failed-push', 'fails if it has to push a registration again', () => {
    const tried = new Set<string>()
    return {
      push(changes, context, push) {
        if (changes.some(({ domainId }) => tried.has(domainId))) throw new Error('It was tried before')
        for (const { domainId } of changes) tried.add(domainId)
        return push(changes, context)
      },
    }
  }),
  {
    ...wrapped('later-is-not-now', 'pushes registrations inside the transaction', (...call) => ({
      ...pushSaved(...call),
      isInTransaction: true,
    })),
    features: ['isInTransaction'],
  },
]

const ofOtherMethods: readonly BrokenStore[] = [
  wrapped('finds-what-register-finds', 'does not look up wildcards in find', store => ({
    find: question => store.find({ ...question, domains: question.domains.filter(each => !isWildcard(each)) }),
  })),
  wrapped('find-registers-nothing', 'registers the names that find looks up', (store, { rows }) => ({
    async find(question) {
      const found = await store.find(question)
      const row = { domainId: '', registrableDomain: '', teamId: question.teamId, createdAt: new Date() }
      rows.push(...question.domains.map(domain => ({ ...row, domain })))
      return found
    },
  })),
  wrapped('find-extends-no-lease', 'leases the registrations that find returns, as register does', store => ({
    async find(question) {
      const request = { ...question, registrableDomains: [], timeLimit: 1000, decide: () => [] }
      return (await store.register(request)).found
    },
  })),
  wrapped('gets-by-id', 'returns from get only registrations of one team', store => ({
    get: async domainId => {
      const found = await store.get(domainId)
      return found?.teamId === '1' ? found : null
    },
  })),

  broken('release-frees-names', 'does not release wildcards', {
    remove: (rows, row) => !isWildcard(row.domain) && soundSteps.remove(rows, row),
  }),
  releasing('release-by-id', 'releases by name only, not by ID', domains => domains.filter(each => each.includes('.'))),
  wrapped(
    'release-of-a-wildcard-alone',
    'releases a wildcard together with the names that it covers',
    (store, { rows }) => ({
      async release(teamId, domains) {
        const released = await store.release(teamId, domains)
        for (const row of rows.filter(({ domain }) => domain.endsWith('.example.com'))) remove(rows, row)
        return released
      },
    }),
  ),
  broken('release-passes-over-other-teams', 'releases the wildcards of all teams', {
    canRelease: (row, teamId) => row.teamId === teamId || isWildcard(row.domain),
  }),
  releasing(
    'release-passes-over-what-is-not-there',
    'fails if it has to release a string that is not a hostname',
    domains => {
      if (domains.includes('localhost')) throw new Error('That is no hostname')
      return domains
    },
  ),
  releasing('release-in-any-spelling', 'releases only names in canonical spelling', domains =>
    domains.filter(each => each === each.trim().toLowerCase()),
  ),
  releasing('release-refuses-what-is-no-list', 'treats a string as an array of one name', domains => [domains].flat()),
  broken('release-ends-an-id', 'reuses the old ID of a name', () => {
    const ids = new Map<string, string>()
    return {
      createId(name, call) {
        const id = ids.get(name.domain) ?? soundSteps.createId(name, call)
        ids.set(name.domain, id)
        return id
      },
    }
  }),
  broken('release-during-a-push', 'saves each registration again after its push', {
    finish: ({ rows }, change) => void rows.push({ ...change, createdAt: new Date() }),
  }),
  wrapped('counts-registrations', 'counts the registrations of all teams', store => ({ count: () => store.count() })),
]

const ofSweeping: readonly BrokenStore[] = [
  leasing(
    'call-keeps-what-it-saved',
    'lets a sweep push new registrations just after a call has saved them',
    'save',
    0,
  ),
  leasing(
    'call-keeps-what-it-found',
    'lets a sweep push pending registrations just after a call has found them',
    'find',
    0,
  ),
  broken('call-hastens-nothing', 'retries a postponed change too early, as soon as the lease of a call ends', {
    finishCall({ lease }, { waiting }) {
      for (const each of waiting.values()) each.due = performance.now() + (lease ?? 0)
    },
  }),
  broken('leases-nothing-to-another-team', 'leases pending registrations to the calls of all teams', {
    finishCall({ domains, lease }, { waiting }) {
      for (const each of waiting.values())
        if (domains.includes(each.change.domain)) each.due = Math.max(each.due, performance.now() + (lease ?? 0))
    },
  }),
  broken('leases-no-wildcard-above', 'leases a pending wildcard to each call that names a hostname below it', {
    finishCall({ domains, lease }, { waiting }) {
      for (const each of waiting.values())
        if (domains.includes(each.change.domain)) each.due = Math.max(each.due, performance.now() + (lease ?? 0))
    },
  }),
  leasing('sweep-takes-what-a-call-left', 'leases new registrations to their call for an hour', 'save', 3_600_000),
  broken('pending-survive-a-failed-push', 'forgets changes whose push fails', {
    postpone: ({ waiting }, { change }) => void waiting.delete(change.domainId),
  }),
  broken('pending-oldest-first', 'pushes the newest changes first', {
    choose: (waiting, limit, ...rest) =>
      soundSteps
        .choose(waiting, 1000, ...rest)
        .toReversed()
        .slice(0, limit),
  }),
  broken('pending-in-the-order-of-due-times', 'pushes the oldest change first, even if it became due last', {
    choose: (waiting, ...rest) =>
      [...soundSteps.choose(waiting, ...rest)].sort((one, other) => Number(one.change.at) - Number(other.change.at)),
  }),
  broken('pending-within-the-limit', 'ignores the limit of a sweep', {
    choose: (waiting, _, ...rest) => soundSteps.choose(waiting, 1000, ...rest),
  }),
  broken('pushes-in-batches', 'pushes all changes at once, ignoring batchSize', { batchSize: () => undefined }),
  leasing('pending-is-shared', 'does not lease changes to a sweep', 'sweep', 0),
  broken('release-is-pushed', 'pushes the release of a wildcard as a registration', {
    push: (changes, context, push) =>
      push(
        changes.map(change => (isWildcard(change.domain) ? { ...change, kind: 'registered' } : change)),
        context,
      ),
  }),
  broken(
    'release-overtakes-nothing',
    'makes every release due immediately, even while its registration is being pushed',
    {
      recordRelease: row => toWaiting(row, 'released', 0),
    },
  ),
  broken('release-of-what-was-never-pushed', 'pushes a registration although it has been released', {
    recordRelease: (row, before, lease) => before ?? soundSteps.recordRelease(row, before, lease),
  }),
  broken('registered-again-is-watched', 'treats a registration as never pushed if it is not marked as synchronized', {
    recordRelease: (row, before, lease) => (before ? undefined : soundSteps.recordRelease(row, before, lease)),
  }),
  broken(
    'release-outlives-a-failed-push',
    'postpones a registration whose push failed, instead of the release that followed it',
    {
      postpone({ waiting }, { change, wait }) {
        const found = waiting.get(change.domainId)
        if (found) waiting.set(change.domainId, { ...found, change, due: performance.now() + wait })
      },
    },
  ),
  broken('push-gets-a-signal', 'passes a signal that never aborts', {
    push: (changes, _, push) => push(changes, noSignal),
  }),
  wrapped('sweep-ends-when-told', 'continues a sweep after its signal has aborted', store => ({
    synchronizePending: ({ limit } = {}) => store.synchronizePending({ limit }),
  })),

  pushing(
    'refused-in-a-call-alone',
    'fails a whole call if one change is refused',
    async (registrations, store, _tables, setup) => {
      await setup.synchronize?.(registrations.map(toRegistered), noSignal)
      await store.synchronize?.(registrations)
    },
  ),
  broken('refused-in-a-sweep-alone', 'fails if it has to push a change alone', {
    push(changes, context, push) {
      if (changes.length === 1) throw new Error('One change is too few')
      return push(changes, context)
    },
  }),
  wrapped('refused-is-told', 'does not report refusals', store => ({
    synchronizePending: (options = {}) => store.synchronizePending({ ...options, onError: () => {} }),
  })),
  broken('refused-waits', 'retries refused changes immediately', {
    postpone: (tables, postponement) => soundSteps.postpone(tables, { ...postponement, wait: 0 }),
  }),
  pushing('monitor-that-is-away', 'pushes each change alone', async (registrations, store) => {
    const pushes = registrations.map(async registration => store.synchronize?.([registration]))
    await Promise.all(pushes)
  }),
  broken('refused-let-new-ones-pass', 'pushes the oldest pending changes first, even if they were refused', {
    choose: (waiting, limit, now, lease) =>
      soundSteps
        .choose(waiting, 1000, now, lease)
        .toSorted((one, other) => one.change.at.getTime() - other.change.at.getTime())
        .slice(0, limit),
  }),
  broken('refused-is-shared', 'leases only new changes to a sweep', {
    choose: (waiting, ...rest) =>
      soundSteps.choose(waiting, ...rest).map(each => (each.refusals > 0 ? { ...each } : each)),
  }),
  broken(
    'refused-by-due-time',
    'pushes the change with the most refusals last, even if that change has been due the longest',
    {
      choose: (waiting, limit, ...rest) =>
        soundSteps
          .choose(waiting, 1000, ...rest)
          .toSorted((one, other) => one.refusals - other.refusals)
          .slice(0, limit),
    },
  ),
  broken(
    'refused-is-told-to-its-own-sweep',
    'reports failures of all sweeps to the onError of the latest sweep',
    () => {
      let latest: SweepOptions['onError']
      const replace = (store: SuiteStore): Partial<SuiteStore> => ({
        synchronizePending(options = {}) {
          latest = options.onError ?? latest
          return (store as ManagedStore).synchronizePending({ ...options, onError: (...told) => latest?.(...told) })
        },
      })
      return { wrap: store => ({ ...store, ...replace(store) }) }
    },
  ),

  wrapped('counts-what-waits', 'counts only pending changes that are due', (_store, { waiting }) => ({
    countPending: () => [...waiting.values()].filter(({ due }) => due <= performance.now()).length,
  })),
  wrapped('counts-nothing-without-synchronize', 'counts changes as pending if there is no monitor', () => ({
    countPending: () => 2,
  })),
  wrapped('records-nothing-without-a-monitor', 'records releases if there is no monitor', (store, _tables, setup) => {
    let released = 0
    return {
      async release(teamId, domains) {
        const registrations = await store.release(teamId, domains)
        released += setup.synchronize ? 0 : registrations.length
        return registrations
      },
      countPending: async () => (await store.countPending()) + released,
    }
  }),
  wrapped('retries-when-told', 'retries all changes, regardless of the given IDs', store => ({
    retryPending: (options = {}) => store.retryPending({ ...options, domainIds: undefined }),
  })),
  wrapped('retries-after-an-outage', 'retries only changes that the monitor refused', (store, { waiting }) => ({
    retryPending: ({ domainIds = [...waiting.keys()] } = {}) =>
      store.retryPending({ domainIds: domainIds.filter(id => (waiting.get(id)?.refusals ?? 0) > 0) }),
  })),
  wrapped('retry-takes-nothing-from-a-push', 'retries changes that are leased to a call', (store, { waiting }) => ({
    async retryPending(options) {
      for (const each of waiting.values()) if (each.refusals === 0) each.due = 0
      return store.retryPending(options)
    },
  })),
  wrapped('says-since-when-it-waits', 'does not count refused changes', store => ({
    pendingStats: async () => ({ ...(await store.pendingStats()), refused: 0 }),
  })),
  wrapped('settles-when-told', 'settles all changes, regardless of the given IDs', (store, { waiting }) => ({
    async settlePending(options) {
      const settled = await store.settlePending(options)
      if (settled > 0) waiting.clear()
      return settled
    },
  })),
  broken('release-inherits-no-failure', 'counts the refusals of a registration as refusals of its release', {
    recordRelease: (row, before, lease) => ({
      ...toWaiting(row, 'released', before ? lease : 0),
      refusals: before?.refusals ?? 0,
    }),
  }),
  broken('calls-count-one-refusal', 'counts each failure of a repeated call', {
    postpone(tables, postponement) {
      const before = tables.waiting.get(postponement.change.domainId)?.refusals ?? 0
      soundSteps.postpone(tables, { ...postponement, refusals: before + postponement.refusals })
    },
  }),
  wrapped('shows-what-waits', 'does not say why a change was refused', store => ({
    listPending: async options => (await store.listPending(options)).map(each => ({ ...each, lastFailure: null })),
  })),
  broken('keeps-the-last-failure', 'forgets the last failure of a change if a sweep is stopped', {
    postpone(tables, postponement) {
      soundSteps.postpone(tables, postponement)
      const found = tables.waiting.get(postponement.change.domainId)
      if (found) found.lastFailure = postponement.failure ?? null
    },
  }),
  wrapped('shows-what-waits-by-page', 'ignores the cursor of a page', store => ({
    listPending: ({ after: _, ...options } = {}) => store.listPending(options),
  })),
]

const ofListing: readonly BrokenStore[] = [
  broken('lists-in-order', 'sorts long lists by name', {
    list: (rows, page) =>
      rows.length === 54
        ? rows.toSorted((one, other) => (one.domain < other.domain ? -1 : 1)).slice(0, page.limit)
        : soundSteps.list(rows, page),
  }),
  wrapped('lists-ascending-ids', 'numbers registrations without leading zeros', store => {
    const numbers = new Map<string, string>()
    const toNumber = (id: string) => {
      if (!numbers.has(id)) numbers.set(id, String(numbers.size))
      return numbers.get(id) as string
    }
    return {
      list: async options => (await store.list(options)).map(row => ({ ...row, domainId: toNumber(row.domainId) })),
    }
  }),
  broken('lists-whole-registrations', 'returns 1970 as the time of creation', {
    list: (rows, page) => soundSteps.list(rows, page).map(row => ({ ...row, createdAt: new Date(0) })),
  }),
  listing('lists-a-team', 'lists the registrations of all teams for an unknown team', ({ teamId }) =>
    teamId === '77' ? { teamId: undefined } : {},
  ),
  listing('lists-by-page', 'treats a limit of 0 as no limit', ({ limit }) => (limit === 0 ? { limit: 1000 } : {})),
  listing('lists-a-thousand-by-default', 'lists more than a thousand registrations by default', ({ limit }) =>
    limit === 1000 ? { limit: 2000 } : {},
  ),
  listing('lists-the-newest-first', 'ignores the cursor if the newest registrations are listed first', ({ order }) =>
    order === 'newest' ? { after: undefined } : {},
  ),
  listing('lists-one-domain', 'lists a given name even if another team registered it', ({ domain }) =>
    domain ? { teamId: undefined } : {},
  ),
  broken('lists-below', 'omits the wildcard whose base is the given name', {
    list: (rows, page) => soundSteps.list(rows, page).filter(({ domain }) => domain !== `*.${page.below}`),
  }),
  wrapped('lists-nothing-for-wrong-options', 'ignores an unknown order', store => ({
    list: options => store.list((options?.order as string) === 'up' ? {} : options),
  })),
  listing(
    'lists-after-what-is-gone',
    'starts again from the beginning if the registration at the cursor was released',
    ({ below, after }, rows) => (below || rows.some(row => row.domainId === after) ? {} : { after: undefined }),
  ),
]

const ofLimits: readonly BrokenStore[] = [
  broken('team-count', 'counts the registrations of all teams', { count: rows => rows.length }),
  wrapped('team-count-by-find', 'counts registrations in register, but not in find', store => ({
    async find(question) {
      const { teamCount: _, ...found } = await store.find(question)
      return found
    },
  })),
  broken('team-count-is-less-after-a-release', 'never lowers its count of registrations', () => {
    let most = 0
    return { count: (rows, teamId) => (most = Math.max(most, soundSteps.count(rows, teamId))) }
  }),
  broken('limit-is-kept', 'forgets the limit of a team', {
    findTeam(id, teams) {
      const { maxDomains: _, ...team } = soundSteps.findTeam(id, teams) as Team
      return team
    },
  }),
  broken('race-under-a-limit', 'locks registrable domains, but not teams with a limit', {
    createLock: lockWhere(shareRegistrableDomain),
  }),
]

const isImport = (step: RegistrationStep) => 'domainIds' in step

const importing = (id: string, breaks: string, change: (request: ImportRequest) => ImportRequest): BrokenStore => ({
  ...wrapped(id, breaks, store => ({ import: request => store.import?.(change(request)) as Promise<ImportFindings> })),
  features: allParts,
})
const allParts: readonly StoreFeature[] = [...managedStoreFeatures, 'import', 'transfer']

const ofImporting: readonly BrokenStore[] = [
  importing('imports-as-given', 'imports all registrations into one team', request => ({
    ...request,
    decide: found => request.decide(found).map(row => ({ ...row, teamId: '1' })),
  })),
  importing('import-finds-ids', 'does not report which IDs of an import are already used', request => ({
    ...request,
    domainIds: [],
  })),
  importing('import-tells-the-monitor-the-rest', 'treats all imported registrations as synchronized', request => ({
    ...request,
    decide: found => request.decide(found).map(row => ({ ...row, synchronized: true })),
  })),
  {
    ...broken('import-and-release-without-a-monitor', 'records no release if it does not push', {
      isRecorded: () => false,
    }),
    features: allParts,
  },
  {
    ...broken(
      'import-and-calls-exclude-each-other',
      'runs imports and calls concurrently',
      lockUnless((one, other) => isImport(one) !== isImport(other)),
    ),
    features: allParts,
  },
]

const transferring = (id: string, breaks: string, changes: Partial<Steps>): BrokenStore => ({
  ...broken(id, breaks, changes),
  features: allParts,
})

const changingTransfers = (id: string, breaks: string, change: (request: TransferRequest) => TransferRequest) =>
  transferring(id, breaks, {
    wrap: store => ({
      ...store,
      transfer: request => store.transfer?.(change(request)) as Promise<TransferredRegistrations>,
    }),
  })

const isTransfer = (step: RegistrationStep) => 'from' in step

const ofTransfers: readonly BrokenStore[] = [
  changingTransfers('transfers-what-a-team-holds', 'transfers by name only, not by ID', request => ({
    ...request,
    domains: request.domains.filter(domain => domain.includes('.')),
  })),
  changingTransfers('transfer-counts', 'does not check the limit of the new team in a transfer', request => ({
    ...request,
    needsCount: false,
  })),
  transferring('transfer-keeps-names-watched', 'does not push the two changes of a transfer in order', {
    mustFollow: () => false,
  }),
  transferring('transfer-of-what-is-pending', 'pushes the release of the first ID too early after a second transfer', {
    follow: () => {},
  }),
  transferring('transfer-is-due', 'never pushes the release of a former ID', {
    choose: (waiting, ...rest) =>
      soundSteps.choose(
        waiting.filter(({ follows }) => follows === undefined),
        ...rest,
      ),
  }),
  transferring('transfer-overtakes-nothing', 'pushes the release of a former ID before the lease of a push ends', {
    choose: (waiting, _, now) => waiting.filter(({ due, follows }) => due <= now || follows !== undefined),
  }),
  transferring('transfer-and-release', 'forgets the release of a former ID once the new ID has been released', {
    mustFollow: followed => followed === undefined || soundSteps.mustFollow(followed) || followed.follows === undefined,
  }),
  transferring('race-of-transfers', 'runs transfers concurrently', {
    createLock: lockWhere((one, other) => !(isTransfer(one) && isTransfer(other)) && mustTakeTurns(one, other)),
  }),
  transferring(
    'race-of-transfers-under-a-limit',
    'locks registrable domains, but not teams with a limit, in transfers',
    {
      createLock: lockWhere(shareRegistrableDomain),
    },
  ),
]

export const brokenStores: readonly BrokenStore[] = [
  {
    id: 'features-are-as-declared',
    breaks: 'has an undeclared method',
    features: managedStoreFeatures.filter(feature => feature !== 'list'),
    createStore: setup => createNaiveStore(setup),
  },
  ...ofRegistering,
  ...ofConcurrency,
  ...ofSynchronizing,
  ...ofOtherMethods,
  ...ofSweeping,
  ...ofListing,
  ...ofLimits,
  ...ofImporting,
  ...ofTransfers,
]
