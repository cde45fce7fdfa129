import type { Names } from './names-source.ts'
import { type NamesOperation, type NamesOptions, sendNames } from './send-names.ts'
import type { ResultOfName } from './send-part.ts'

/**
 * Work that begins when you use `await` or `for await`. `await` collects all results. `for await` yields each result as
 * it arrives, keeps none, and reads further names only as the loop continues.
 */
export interface Run<Result, Whole> extends Promise<Whole>, AsyncIterable<Result> {}

/** @param toWhole Called with the results of all names, in the order of the names. */
export function createRun<Result extends ResultOfName, Whole>(
  names: Names,
  options: NamesOptions<Result>,
  operation: NamesOperation<Result>,
  toWhole: (results: readonly Result[]) => Whole,
): Run<Result, Whole> {
  let whole: Promise<Whole> | undefined
  async function collect(): Promise<Whole> {
    const results: Result[] = []
    for await (const batch of sendNames(names, options, operation, results)) {
      for (const [index, place] of batch.places.entries()) results[place] = batch.results[index] as Result
    }
    return toWhole(results)
  }
  async function* iterate(): AsyncGenerator<Result, void, undefined> {
    for await (const { results } of sendNames(names, options, operation)) yield* results
  }
  const toPromise = () => (whole ??= collect())
  return {
    // biome-ignore lint/suspicious/noThenProperty: it is a promise
    then: (onResolve, onReject) => toPromise().then(onResolve, onReject),
    catch: onReject => toPromise().catch(onReject),
    finally: onEnd => toPromise().finally(onEnd),
    [Symbol.toStringTag]: 'Promise',
    [Symbol.asyncIterator]: iterate,
  }
}
