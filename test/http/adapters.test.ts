import { expect, test } from 'vitest'
import { createKeys, createStore } from '../fixtures.ts'
import { describeHostileHttp } from './hostile.ts'
import { servers } from './servers.ts'
import { describeHttp } from './suite.ts'

for (const [name, start, statusOfOtherMethods] of servers) {
  describeHttp(name, start, { statusOfOtherMethods })
  describeHostileHttp(name, start)
}

test.each(servers)('%s rejects an unknown option before the first call', async (_, start) => {
  const options = { store: createStore(), keys: createKeys().keys, bodylimit: 1 }
  await expect(async () => start(options)).rejects.toThrow('The option "bodylimit" does not exist')
})
