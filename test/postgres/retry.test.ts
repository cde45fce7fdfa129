import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { retryConflicts } from '../../src/postgres/transaction.ts'
import { createDeadline } from '../../src/time/deadline.ts'
import { rejection } from '../fixtures.ts'

/** Runs work that fails with this error in its first `times` attempts, by default in all of them. */
async function run(failure: object, { times = Number.POSITIVE_INFINITY, milliseconds = 10_000 } = {}) {
  let attempts = 0
  const running = retryConflicts(createDeadline(milliseconds), async () => {
    attempts += 1
    if (attempts <= times) throw Object.assign(new Error('conflict'), failure)
  })
  const error = await rejection(running.then(() => Promise.reject(null)))
  return { attempts, error }
}

describe('a transaction', () => {
  test.each(['40001', '40P01', '25P03'])(
    'is repeated after a conflict with the code %s until it succeeds',
    async code => {
      expect(await run({ code }, { times: 8 })).toEqual({ attempts: 9, error: null })
    },
  )

  test('is repeated after pauses that double up to a limit of 200 ms', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    onTestFinished(vi.spyOn(Math, 'random').mockReturnValue(0.8).mockRestore)
    const times: number[] = []
    const running = rejection(
      retryConflicts(createDeadline(700), async () => {
        times.push(performance.now())
        throw Object.assign(new Error('conflict'), { code: '40001' })
      }),
    )
    await vi.runAllTimersAsync()
    expect(await running).toMatchObject({ code: '40001' })
    const pauses = times.slice(1).map((time, index) => Math.round(time - (times[index] as number)))
    expect(pauses).toEqual([4, 8, 16, 32, 64, 128, 160, 160])
  })

  test("is tried only three times after a unique violation: the constraint may be the application's", async () => {
    expect(await run({ code: '23505' })).toMatchObject({ attempts: 3, error: { code: '23505' } })
  })

  test.each(['23503', '42501', '55P03', '57014', 'ECONNRESET', undefined])(
    'is not repeated after an error with the code %s',
    async code => {
      expect(await run({ code })).toMatchObject({ attempts: 1, error: { code } })
    },
  )

  const nested = (depth: number): object => (depth === 0 ? { code: '40001' } : { cause: nested(depth - 1) })
  const endless: { cause?: object } = {}
  endless.cause = endless

  test.each([
    ['is repeated after a conflict that an ORM reports as the cause of its own error', nested(1), 2],
    ['is repeated after a conflict at the end of a chain of six causes', nested(6), 2],
    [
      'is repeated after a conflict whose code is in Prisma’s property originalCode',
      { cause: { originalCode: '40001' } },
      2,
    ],
    [
      'is repeated after a conflict that a driver adapter of Prisma reports',
      { meta: { driverAdapterError: { cause: { originalCode: '40001' } } } },
      2,
    ],
    ['is not repeated after an error that has no code and is its own cause', endless, 1],
  ])('%s', async (_, failure, attempts) => {
    expect(await run(failure, { times: 1 })).toMatchObject({ attempts })
  })
})
