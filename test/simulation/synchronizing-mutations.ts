import { loadMutated, loadOver } from './mutate.ts'
import { openInMemory } from './registries.ts'
import type { SynchronizingInvariant, SynchronizingParts } from './synchronizing.ts'

type OutboxModule = typeof import('../../src/registry/outbox.ts')
type WaitingChangesModule = typeof import('../../src/memory/waiting-changes.ts')

interface SynchronizingMutation {
  readonly mistake: string
  readonly invariant: SynchronizingInvariant
  /** Loads what is mistaken. */
  load(): Promise<Partial<SynchronizingParts>>
}

const inSplit = (original: string, mistaken: string) => async () => {
  const split = await loadMutated({ file: 'registry/split.ts', original, mistaken })
  const { createSynchronizer } = await loadOver<OutboxModule>('registry/outbox.ts', { './split.ts': split })
  return { createSynchronizer }
}

const inOutbox = (original: string, mistaken: string) => async () => {
  const { createSynchronizer } = await loadMutated<OutboxModule>({ file: 'registry/outbox.ts', original, mistaken })
  return { createSynchronizer }
}

const inMemory = (original: string, mistaken: string) => async () => {
  const mutation = { file: 'memory/waiting-changes.ts', original, mistaken }
  const { createWaitingChanges } = await loadMutated<WaitingChangesModule>(mutation)
  return { open: openInMemory(createWaitingChanges) }
}

/** Mistakes in `src`, each with the invariant that is there for it. */
export const mutations: readonly SynchronizingMutation[] = [
  {
    mistake: 'a push that fails is not split',
    invariant: 'nothing waits behind something that fails',
    load: inSplit('else waiting.push(...halve(part))', 'else refused.push(...part.map(item => ({ item, cause })))'),
  },
  {
    mistake: 'what is refused alone ends the sweep',
    invariant: 'nothing waits behind something that fails',
    load: inSplit(
      'if (part.length === 1) refused.push({ item: part[0] as Item, cause })',
      `if (part.length === 1) {
        return { refused: [{ item: part[0] as Item, cause }], untried: waiting.flat(), lastCause: cause }
      }`,
    ),
  },
  {
    mistake: 'what went through does not show that the monitor is there',
    invariant: 'nothing waits behind something that fails',
    load: inSplit('hasGoneThrough = true', ''),
  },
  {
    mistake: 'nothing is tried alone after a sweep that found the monitor away',
    invariant: 'nothing waits behind something that fails',
    load: inOutbox('if (refused.size === 0) return []', 'if (refused.size >= 0) return []'),
  },
  {
    mistake: 'what was tried alone while the monitor was away is never tried alone again',
    invariant: 'nothing waits behind something that fails',
    load: inOutbox('if (changes.every(({ domainId }) => refused.has(domainId))) {', 'if (changes.length === 0) {'),
  },
  {
    mistake: 'waits do not grow',
    invariant: 'what is refused is tried more and more rarely',
    load: inOutbox('firstWait(timeLimit) * 2 ** refusals', 'firstWait(timeLimit)'),
  },
  {
    mistake: 'refusals are not counted',
    invariant: 'what is refused is tried more and more rarely',
    load: inOutbox('isRefusal: true', 'isRefusal: false'),
  },
  {
    mistake: 'what is refused is due at once',
    invariant: 'what is refused is tried more and more rarely',
    load: inOutbox('wait: waitAfter(item.refusals)', 'wait: 0'),
  },
  {
    mistake: 'a sweep pushes for longer than its lease',
    invariant: 'sweeps share the work',
    load: inOutbox(
      'const deadline = createDeadline(Math.min(pushingTime(timeLimit), leased.remaining()))',
      'const deadline = createDeadline(8 * timeLimit)',
    ),
  },
  {
    mistake: 'a sweep marks before it pushes',
    invariant: 'what is watched is what is registered',
    load: inOutbox('await deadline.wait(push(', 'await outbox.finish(part)\n      await deadline.wait(push('),
  },
  {
    mistake: 'a lease does not end',
    invariant: 'nothing waits behind something that fails',
    load: inMemory('change.due = now + lease', 'change.due = Number.POSITIVE_INFINITY'),
  },
  {
    mistake: 'a sweep takes without a lease',
    invariant: 'sweeps share the work',
    load: inMemory('change.due = now + lease', 'change.due = now'),
  },
  {
    mistake: 'what another has taken is put off',
    invariant: 'sweeps share the work',
    load: inMemory(' || change.due !== (lease ?? change.firstLease)', ''),
  },
  {
    mistake: 'a call that finds a registration makes it due sooner',
    invariant: 'what is refused is tried more and more rarely',
    load: inMemory('change.due = Math.max(change.due, leased())', 'change.due = leased()'),
  },
  {
    mistake: 'releases are not recorded',
    invariant: 'nothing waits behind something that fails',
    load: inMemory(
      "waiting.set(holding.domainId, { kind: 'released', holding, due,",
      'waiting.delete(holding.domainId)\n      void ({ due,',
    ),
  },
  {
    mistake: 'a release overtakes a push',
    invariant: 'no release overtakes its registration',
    load: inMemory('waiting.has(holding.domainId) ? leased() : performance.now()', 'performance.now()'),
  },
  {
    mistake: 'a release that came during a push is forgotten',
    invariant: 'nothing waits behind something that fails',
    load: inMemory('if (change?.kind === kind) {', 'if (change) {'),
  },
  {
    mistake: 'what was handed out is handed out first again',
    invariant: 'nothing waits behind something that fails',
    load: inMemory('waiting.delete(domainId)\n        waiting.set(domainId, change)', ''),
  },
  {
    mistake: 'the newest is handed out first',
    invariant: 'nothing waits behind something that fails',
    load: inMemory('of waiting) {\n        if (taken.length', 'of [...waiting].reverse()) {\n        if (taken.length'),
  },
]
