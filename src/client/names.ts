import { describe, isText } from '../options.ts'
import type { PlacedName } from './send-batch.ts'

/** Hostnames: an array, another iterable, or an async iterable such as the lines of a file. */
export type Names = Iterable<string> | AsyncIterable<string>

/** The maximum number of hostnames in one call. */
const NAMES_PER_CALL = 100

/** Reads the names of the next call in advance. */
export class NameReader {
  /** The names of the next call, once they are read. */
  next: readonly PlacedName[] | undefined
  isAtEnd = false
  /** The error that the iterable threw, or the error about a value that is not a string. */
  failure: { readonly error: unknown } | undefined
  /** How many names were taken. */
  taken = 0
  readonly #batches: AsyncGenerator<readonly PlacedName[], void, undefined>
  readonly #onRead: () => void

  /**
   * @param onRead Called when names are available, at the end, and after a failure.
   * @throws {TypeError} if the names are not iterable, or are a single string, whose letters would be sent one by one.
   */
  constructor(names: Names, onRead: () => void) {
    if (typeof names !== 'object' || names === null || !(Symbol.iterator in names || Symbol.asyncIterator in names)) {
      throw new TypeError(`The names must be an array or another iterable of strings; they are ${describe(names)}`)
    }
    this.#batches = readBatches(names)
    this.#onRead = onRead
    void this.#read()
  }

  /** Takes the `next` names, and reads on. */
  take(): void {
    this.taken += this.next?.length ?? 0
    this.next = undefined
    void this.#read()
  }

  async #read(): Promise<void> {
    try {
      const { value, done } = await this.#batches.next()
      this.next = value ?? undefined
      this.isAtEnd = done === true
    } catch (error) {
      this.isAtEnd = true
      this.failure = { error }
    }
    this.#onRead()
  }

  /** Lets the iterable release its resources. */
  close(): void {
    this.#batches.return(undefined).catch(() => {})
  }
}

async function* readBatches(names: Names): AsyncGenerator<readonly PlacedName[], void, undefined> {
  let batch: PlacedName[] = []
  let place = 0
  for await (const name of names) {
    if (!isText(name)) throw new TypeError(`The name at index ${place} must be a string; it is ${describe(name)}`)
    batch.push({ name, place })
    place += 1
    if (batch.length < NAMES_PER_CALL) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}

/** Returns the number of names, if it is known before they are read. */
export function countNames(names: Names): number | undefined {
  if (Array.isArray(names)) return names.length
  return names instanceof Set ? names.size : undefined
}
