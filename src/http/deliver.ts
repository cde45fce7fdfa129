interface Delivery {
  /** The time within which the caller must read each piece, in milliseconds. */
  readonly timeLimit: number
  /** Ends the response so that it does not look complete. */
  readonly cutOff: (cause: unknown) => void
}

/**
 * Delivers the body of an export piece by piece. The response is cut off if the next piece cannot be read, or if the
 * caller does not read a piece in time. Without this time limit, a caller that stops reading would keep its connection
 * open, and a page in memory, indefinitely.
 */
export async function* deliver(
  pieces: AsyncIterable<string>,
  { timeLimit, cutOff }: Delivery,
): AsyncGenerator<string, void> {
  const iterator = pieces[Symbol.asyncIterator]()
  try {
    for (;;) {
      const { done, value } = await iterator.next().catch(error => {
        cutOff(error)
        throw error
      })
      if (done) return
      const timer = setTimeout(() => cutOff(new Error('The caller did not read the export in time')), timeLimit)
      try {
        yield value
      } finally {
        clearTimeout(timer)
      }
    }
  } finally {
    await iterator.return?.()
  }
}
