import { expect, test } from 'vitest'
import { createTurns } from '../../src/outbox/turns.ts'
import { createDeadline } from '../../src/time/deadline.ts'

const pusher = { deadline: createDeadline(60_000), signal: undefined }

test('a sweep whose signal was aborted before it stood in line gets no turn, and keeps none', async () => {
  const turns = createTurns(1)
  expect(await turns.enter(pusher)).toBe(true)
  expect(await turns.enter({ ...pusher, signal: AbortSignal.abort() })).toBe(false)
  const next = turns.enter(pusher)
  turns.leave()
  expect(await next).toBe(true)
})

test('a call of another team and a sweep wait for one call of a team that has many', async () => {
  const turns = createTurns(1)
  await turns.enter(pusher)
  const begun: string[] = []
  const enter = async (name: string, teamId?: string) => {
    await turns.enter({ ...pusher, teamId })
    begun.push(name)
    turns.leave()
  }
  const all = [...['1', '2', '3', '4'].map(name => enter(name, 'flood')), enter('other', 'other'), enter('sweep')]
  turns.leave()
  await Promise.all(all)
  expect(begun).toEqual(['1', 'other', 'sweep', '2', '3', '4'])
})

test('if 10,000 calls of a team wait, its next call gets no turn, and a call of another team waits', async () => {
  const turns = createTurns(1)
  await turns.enter(pusher)
  const stopping = new AbortController()
  const { signal } = stopping
  const waiting = Array.from({ length: 10_000 }, () => turns.enter({ ...pusher, teamId: '1' }))
  expect(await turns.enter({ ...pusher, teamId: '1' })).toBe(false)
  const other = turns.enter({ ...pusher, teamId: '2', signal })
  stopping.abort()
  expect(await other).toBe(false)
  for (const turn of waiting) {
    turns.leave()
    expect(await turn).toBe(true)
  }
})
