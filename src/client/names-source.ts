import { describe, isText } from '../options.ts'
import type { Part } from './retries.ts'

/** Hostnames: an array, another iterable, or an async iterable such as the lines of a file. */
export type Names = Iterable<string> | AsyncIterable<string>

/** The maximum number of hostnames in one call. */
export const NAMES_PER_CALL = 100

/** Returns the number of names, if it is known before they are read. */
export function countNames(names: Names): number | undefined {
  if (Array.isArray(names)) return names.length
  return names instanceof Set ? names.size : undefined
}

/** A source of names, which reads the names of the next call in advance. */
export type NamesSource = ReturnType<typeof createNamesSource>

/**
 * @param onRead Called when names are available, at the end, and after a failure.
 * @throws {TypeError} if the names are not iterable, or are a single string, whose letters would be sent one by one.
 */
export function createNamesSource(names: Names, onRead: () => void) {
  const parts = readParts(requireNames(names))
  let next: Part | undefined
  let failure: { readonly error: unknown } | undefined
  let isAtEnd = false
  let read = 0

  function readNext(): void {
    parts
      .next()
      .then(
        ({ value, done }) => {
          isAtEnd = done === true
          next = value ?? undefined
          read += value?.names.length ?? 0
        },
        error => {
          isAtEnd = true
          failure = { error }
        },
      )
      .finally(onRead)
  }
  readNext()

  return {
    take(): Part | undefined {
      const part = next
      next = undefined
      if (part) readNext()
      return part
    },
    isAtEnd: () => isAtEnd,
    /** How many names the source has returned. */
    taken: () => read - (next?.names.length ?? 0),
    /** The error that the iterable threw, or the error about a value that is not a string. */
    failure: () => failure,
    /** Lets the iterable release its resources. */
    close: () => void parts.return(undefined).catch(() => {}),
  }
}

async function* readParts(all: Names): AsyncGenerator<Part, void, undefined> {
  let names: string[] = []
  let place = 0
  const toPart = (): Part => {
    const places = names.map((_, index) => place - names.length + index)
    const part = { names, places, failures: 0, ownFailures: 0, successesBefore: 0, dueAt: 0 }
    names = []
    return part
  }
  for await (const name of all) {
    if (!isText(name)) throw new TypeError(`The name at index ${place} must be a string; it is ${describe(name)}`)
    names.push(name)
    place += 1
    if (names.length === NAMES_PER_CALL) yield toPart()
  }
  if (names.length > 0) yield toPart()
}

function requireNames(names: Names): Names {
  if (typeof names !== 'object' || names === null || !(Symbol.iterator in names || Symbol.asyncIterator in names)) {
    throw new TypeError(`The names must be an array or another iterable of strings; they are ${describe(names)}`)
  }
  return names
}
