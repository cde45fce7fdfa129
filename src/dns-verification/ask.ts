import { runWithin, TimeLimitError } from '../time/deadline.ts'
import { isAbsent, type Resolver, toCode } from './resolver.ts'

/** What became of a query: its answer, or why there is none, as a code such as `ESERVFAIL`. */
export type Answer<T> = { readonly value: T } | { readonly cause: string }

/** Asks the DNS for one call. Never rejects. */
export interface Ask {
  /** Returns the texts at a name; none if the DNS says that there are none. */
  texts(name: string, zone: string): Promise<Answer<readonly string[]>>
  /** Returns for how many seconds resolvers remember that a name of a zone does not exist. */
  negativeTtl(zone: string): Promise<Answer<number>>
  /** How many queries were made. */
  count(): number
  /** Why nobody answered any of the queries, or `undefined` if somebody did. */
  failure(): Error | undefined
}

/** How to ask. */
export interface AskOptions {
  /** Ends the call: queries fail at once, and none begins any more. */
  readonly signal: AbortSignal
  /** The time limit of one query, in milliseconds. */
  readonly queryTimeLimit: number
  /** The maximum number of simultaneous queries. */
  readonly atOnce: number
}

/** The codes with which a DNS server answers that it has no answer. Every other code means that nobody answered. */
const FAILURES = ['ESERVFAIL', 'EREFUSED', 'EFORMERR', 'ENOTIMP', 'EBADRESP']

export function createAsk(resolver: Resolver, { signal, queryTimeLimit, atOnce }: AskOptions): Ask {
  const { negativeTtl } = resolver
  // One listener of the signal for all queries: some runtimes warn of more than ten.
  const running = new Set<AbortController>()
  const waiting: (() => void)[] = []
  let free = atOnce
  const end = () => {
    for (const query of running) query.abort(signal.reason)
    for (const enter of waiting.splice(0)) enter()
  }
  signal.addEventListener('abort', end, { once: true })
  let count = 0
  let isAnswered = false
  let silence: { readonly error: unknown; readonly cause: string } | undefined

  async function ask<T>(ifAbsent: T, query: (signal: AbortSignal) => Promise<T>): Promise<Answer<T>> {
    if (free > 0) free -= 1
    else await new Promise<void>(enter => waiting.push(enter))
    if (signal.aborted) return { cause: 'ETIMEOUT' }
    const controller = new AbortController()
    running.add(controller)
    try {
      count += 1
      const message = `No answer within ${queryTimeLimit} ms`
      // A resolver's own limits grow with its servers and tries.
      const value = await runWithin({ milliseconds: queryTimeLimit, message, signal: controller.signal }, query)
      isAnswered = true
      return { value }
    } catch (error) {
      const cause = error instanceof TimeLimitError ? 'ETIMEOUT' : toCode(error)
      if (isAbsent(error) || FAILURES.includes(cause)) isAnswered = true
      else silence ??= { error, cause }
      return isAbsent(error) ? { value: ifAbsent } : { cause }
    } finally {
      running.delete(controller)
      const enter = waiting.shift()
      if (enter) enter()
      else free += 1
    }
  }

  async function resolveTexts(name: string, zone: string, signal: AbortSignal): Promise<readonly string[]> {
    const records = await resolver.resolveTxt(name, { zone, signal })
    return records.map(strings => strings.join(''))
  }

  return {
    texts: (name, zone) => ask<readonly string[]>([], signal => resolveTexts(name, zone, signal)),
    negativeTtl: async zone => (negativeTtl ? ask(0, () => negativeTtl(zone)) : { value: 0 }),
    count: () => count,
    failure() {
      if (isAnswered || !silence) return undefined
      const { error, cause } = silence
      // The messages of `node:dns` contain a hostname, which no log shows.
      const options = cause === 'EUNKNOWN' ? { cause: error } : {}
      return new Error(`Nobody answered any of ${count} DNS queries (${cause}); is the resolver reachable?`, options)
    },
  }
}
