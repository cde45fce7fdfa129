import { expect, test } from 'vitest'
import { createTurns } from '../../src/outbox/turns.ts'
import { createDeadline } from '../../src/time/deadline.ts'

test('a sweep whose signal was aborted before it stood in line gets no turn, and keeps none', async () => {
  const turns = createTurns(1)
  const deadline = createDeadline(60_000)
  expect(await turns.enter(deadline, undefined)).toBe(true)
  expect(await turns.enter(deadline, AbortSignal.abort())).toBe(false)
  const next = turns.enter(deadline, undefined)
  turns.leave()
  expect(await next).toBe(true)
})
