import { isApiError } from '../errors/api-error.ts'

/** How long a check of an export's caller stays valid, in milliseconds. */
const CALLER_IS_CURRENT_FOR = 5000

interface Guard {
  /** Looks up the caller again. @throws if the caller may no longer read. */
  readonly requireCaller: () => Promise<void>
  /** Called if an export fails in the middle of the response, with the error and the step that failed. */
  readonly report: (error: unknown, step: 'authenticate' | 'list') => void
}

/**
 * Passes on the pieces of an export, and reports failures. Looks up the caller again every few seconds, so an export
 * ends soon after its key is revoked or expires. Throws after a failure, or once the key is no longer valid; the
 * adapter then cuts off the response.
 */
export async function* guardExport(
  pieces: AsyncIterable<string>,
  { requireCaller, report }: Guard,
): AsyncGenerator<string, void> {
  const iterator = pieces[Symbol.asyncIterator]()
  let checkedAt = performance.now()
  const failAs = (step: 'authenticate' | 'list') => (error: unknown) => {
    // If the caller is rejected, for example because its key was revoked, nothing has failed.
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
    // This also runs if the caller has disconnected: Node's stream then throws at the `yield`, although nothing has
    // failed.
    await iterator.return?.()
  }
}
