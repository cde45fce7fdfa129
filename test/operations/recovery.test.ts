import { expect, test } from 'vitest'
import { createMemoryStore, registerDomains } from '../../src/index.ts'
import { team1, teams } from '../fixtures.ts'

test('retryPending pushes a change again once the monitor is available', async () => {
  let isAway = true
  const synchronize = () => (isAway ? Promise.reject(new Error('away')) : Promise.resolve())
  const store = createMemoryStore({ teams, synchronize, onError() {} })
  const registered = registerDomains(team1, { domains: ['www.example.com'] }, store)
  expect(await registered.catch(error => error.status)).toBe(503)
  isAway = false
  expect(await store.synchronizePending()).toMatchObject({ synchronized: 0 })
  await store.retryPending()
  expect(await store.synchronizePending()).toMatchObject({ synchronized: 1, failed: 0 })
})
