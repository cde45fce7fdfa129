import type { createCache } from '../time/cache.ts'
import { runWithin, TimeLimitError } from '../time/deadline.ts'
import { isAbsent, type Resolver, type Texts, toCode } from './resolver.ts'
import type { SilenceWatch } from './silence.ts'
import type { QueryTurns } from './turns.ts'

/** What became of a query: its answer, or why there is none, as a code such as `ESERVFAIL`. */
type Answer<T> = { readonly value: T } | { readonly cause: string }

/** Asks the DNS for one call. Never rejects. */
export interface Ask {
  /** Returns the texts at a name of a zone; none if the DNS says that there are none. */
  texts(name: string, zone: string): Promise<Answer<Texts>>
  /** Returns the name of which a name is an alias (CNAME), if it is one. */
  alias(name: string, zone: string): Promise<string | undefined>
}

/** What all calls of a process share. */
export interface Shared {
  /** The time limit of one query, in milliseconds. */
  readonly queryTimeLimit: number
  readonly turns: QueryTurns
  /** What is not asked again for a while: that there are no texts at a name, or that nobody answers there. */
  readonly memory: ReturnType<typeof createCache<Answer<Texts>>>
  readonly watch: SilenceWatch
}

/** For how many milliseconds it is remembered that there are no texts at a name. */
const ABSENCE_TIME = 10_000
/** For how many milliseconds it is remembered that the servers of a zone are silent. */
const SILENCE_TIME = 30_000

/** @param signal Ends the call: queries fail at once, and none begins any more. */
export function createAsk(
  { queryTimeLimit, turns, memory, watch }: Shared,
  resolver: Resolver,
  teamId: string,
  signal: AbortSignal,
): Ask {
  // One listener of the signal for all queries: some runtimes warn of more than ten.
  const running = new Set<AbortController>()
  const waiting = new Set<() => void>()
  const end = () => {
    for (const query of running) query.abort(signal.reason)
    for (const stopWaiting of waiting) stopWaiting()
  }
  signal.addEventListener('abort', end, { once: true })

  /** @returns The function that ends the turn, or `null` if there was no turn before the end of the call. */
  function waitForTurn(): Promise<(() => void) | null> {
    return new Promise(resolve => {
      const stopWaiting = () => {
        giveUp()
        resolve(null)
      }
      waiting.add(stopWaiting)
      const giveUp = turns.enter(teamId, leave => {
        waiting.delete(stopWaiting)
        resolve(leave)
      })
    })
  }

  async function ask<T>(zone: string, ifAbsent: T, query: (signal: AbortSignal) => Promise<T>): Promise<Answer<T>> {
    const leave = signal.aborted ? null : await waitForTurn()
    if (!leave) return { cause: 'ETIMEOUT' }
    const controller = new AbortController()
    if (signal.aborted) controller.abort(signal.reason)
    running.add(controller)
    try {
      const message = `No answer within ${queryTimeLimit} ms`
      // A resolver's own limits grow with its servers and tries.
      const value = await runWithin({ milliseconds: queryTimeLimit, message, signal: controller.signal }, query)
      watch.answered()
      leave()
      return { value }
    } catch (error) {
      const cause = error instanceof TimeLimitError ? 'ETIMEOUT' : toCode(error)
      if (isAbsent(error)) watch.answered()
      else if (!signal.aborted) watch.failed(zone, cause, error)
      // Otherwise, the resolver goes on, so the place there is taken.
      if (cause !== 'ETIMEOUT' && !signal.aborted) leave()
      return isAbsent(error) ? { value: ifAbsent } : { cause }
    } finally {
      running.delete(controller)
    }
  }

  return {
    async texts(name, zone) {
      const known = memory.get(name, true)
      if (known) return known
      const nothing = { texts: [], isAuthoritative: false }
      const answer = await ask<Texts>(zone, nothing, signal => resolver.resolveTexts(name, zone, signal))
      if (signal.aborted) return answer
      if ('value' in answer && answer.value.texts.length === 0) memory.set(name, answer, ABSENCE_TIME)
      else if ('cause' in answer && answer.cause === 'ETIMEOUT') memory.set(name, answer, SILENCE_TIME)
      return answer
    },
    async alias(name, zone) {
      const { resolveAlias } = resolver
      const answer = resolveAlias ? await ask(zone, undefined, () => resolveAlias(name)) : { cause: '' }
      return 'value' in answer ? answer.value : undefined
    },
  }
}
