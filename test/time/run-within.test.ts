import { expect, test } from 'vitest'
import { TimeLimitError } from '../../src/time/deadline.ts'
import { runWithin } from '../../src/time/run-within.ts'

const never = () => new Promise<never>(() => {})
const message = 'No answer'

test('if the work ends in time, runWithin returns its value or throws its error, and leaves no timer', async () => {
  const { signal } = new AbortController()
  const counts: number[] = []
  const counted = Object.assign(signal, {
    addEventListener: () => counts.push(1),
    removeEventListener: () => counts.push(-1),
  }) as unknown as AbortSignal
  const timers = () => process.getActiveResourcesInfo().filter(resource => resource === 'Timeout').length
  const before = timers()
  const limits = { milliseconds: 50_000, message, signal: counted }
  expect(await runWithin(limits, () => 7)).toBe(7)
  await expect(runWithin(limits, () => JSON.parse('no JSON'))).rejects.toThrow('JSON')
  expect(timers()).toBe(before)
  expect(counts).toEqual([1, -1, 1, -1])
})

test('work that ignores its signal is abandoned at the time limit', async () => {
  let seen: AbortSignal | undefined
  const running = runWithin({ milliseconds: 5, message }, signal => {
    seen = signal
    return never()
  })
  await expect(running).rejects.toThrow(new TimeLimitError(message))
  expect(seen?.reason).toEqual(new TimeLimitError(message))
})

test("if the caller's signal aborts, runWithin rejects with its reason and aborts the work's signal", async () => {
  const outer = new AbortController()
  const running = runWithin({ milliseconds: 50_000, message, signal: outer.signal }, signal => {
    outer.abort(new Error('stopped'))
    expect(signal.reason).toEqual(new Error('stopped'))
    throw new Error('too late')
  })
  await expect(running).rejects.toThrow('stopped')
})

test("work does not start if the caller's signal is already aborted", async () => {
  const limits = { milliseconds: 50_000, message, signal: AbortSignal.abort(new Error('stopped')) }
  await expect(runWithin(limits, () => expect.unreachable('It is not begun'))).rejects.toThrow('stopped')
})
