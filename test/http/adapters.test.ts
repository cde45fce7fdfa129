import { expect, test } from 'vitest'
import { isLong } from '../counts.ts'
import { createKeys, createStore } from '../fixtures.ts'
import { describeHostileHttp } from './hostile.ts'
import { servers } from './servers.ts'
import { describeHttp } from './suite.ts'

for (const [name, start, statusOfOtherMethods] of servers) {
  describeHttp(name, start, { statusOfOtherMethods })
  // A short run leaves out the former versions of the frameworks, which use the same adapters.
  if (isLong || !name.endsWith(' 4')) describeHostileHttp(name, start)
}

test.each(servers)('%s rejects an unknown option before the first call', async (_, start) => {
  const options = { store: createStore(), keys: createKeys().keys, bodylimit: 1 }
  await expect(async () => start(options)).rejects.toThrow('The option "bodylimit" does not exist')
})
