import { isApiError } from '../errors/api-error.ts'

/** Milliseconds for which the caller of an export is known to be allowed. */
const CALLER_IS_CURRENT_FOR = 5000

interface Guard {
  /** Looks the caller up again. @throws if it may no longer read. */
  readonly requireCaller: () => Promise<void>
  /** Called with what failed in the middle of the response, and whether the caller was being looked up. */
  readonly report: (error: unknown, step: 'authenticate' | 'list') => void
}

/**
 * Passes the pieces of an export on. It looks the caller up again every few seconds, so that an export does not outlive
 * its key, and reports failures. Either makes it throw, and the adapter cuts the response off.
 */
export async function* guardExport(
  pieces: AsyncIterable<string>,
  { requireCaller, report }: Guard,
): AsyncGenerator<string, void> {
  const iterator = pieces[Symbol.asyncIterator]()
  let checkedAt = performance.now()
  const failAs = (step: 'authenticate' | 'list') => (error: unknown) => {
    // A caller that is no longer let in is no failure.
    if (!isApiError(error)) report(error, step)
    else if (error.status >= 500) report(error.cause ?? error, step)
    throw error
  }
  try {
    for (;;) {
      if (performance.now() - checkedAt > CALLER_IS_CURRENT_FOR) {
        await requireCaller().catch(failAs('authenticate'))
        checkedAt = performance.now()
      }
      const { done, value } = await iterator.next().catch(failAs('list'))
      if (done) return
      yield value
    }
  } finally {
    // Also when the caller is gone, which a stream of Node throws in here, and is no failure.
    await iterator.return?.()
  }
}
