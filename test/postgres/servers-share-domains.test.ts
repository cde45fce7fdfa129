import { describe, expect, test } from 'vitest'
import { countCalls, findWorstBusyCall, timeOthers } from './simulated-servers.ts'

describe('calls, in virtual time,', () => {
  // Six callers of each server, whose transactions have the lock for 10 ms, can make 0.39 times as many.
  test('for one domain through eight servers are 0.38 times as many as through one, or more', async () => {
    const count = (servers: number) => countCalls({ servers, commit: 10, milliseconds: 3000 })
    const [one, eight] = [await count(1), await count(8)]
    expect(eight / one).toBeGreaterThan(0.38)
  })

  test.each([2, 5, 10])(
    'for one domain through two and four servers are 0.7 times as many or more, if a COMMIT takes %s ms',
    async commit => {
      const count = (servers: number) => countCalls({ servers, commit, milliseconds: 1000 })
      const [one, two, four] = [await count(1), await count(2), await count(4)]
      expect(two / one).toBeGreaterThan(1.1)
      expect(four / one).toBeGreaterThan(0.7)
    },
  )

  test.each([
    { servers: 3, callers: 1, commit: 20 },
    { servers: 8, callers: 1, commit: 2 },
    { servers: 8, callers: 6, commit: 10 },
  ])('for a domain in use wait 200 ms at most beside eight locks of somebody else, with %o', async world => {
    expect(await findWorstBusyCall(world)).toBeLessThan(200)
  })

  test.each([6, 12])(
    'of others take their time, except one in a hundred, beside %s locks of somebody else',
    async locks => {
      const [fewer, more] = [await timeOthers({ commit: 2, locks: 0 }), await timeOthers({ commit: 2, locks })]
      expect(more.at(-3)).toBe(fewer.at(-3))
      expect(more.at(-1)).toBeLessThan(100)
    },
  )
})
