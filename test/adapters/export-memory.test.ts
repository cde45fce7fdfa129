import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { counts, isLong } from '../counts.ts'
import type { Export } from './export-memory.ts'

/** Bytes: much more than some pages, and much less than what is exported. */
const FLAT = 5_000_000

test.skipIf(!isLong)(
  'an export of a million names has flat memory in every adapter (skipped in a short run)',
  async () => {
    const file = fileURLToPath(new URL('export-memory.ts', import.meta.url))
    const child = fork(file, { execArgv: ['--expose-gc', '--import', 'tsx'] })
    const exited = once(child, 'exit')
    child.send(counts.registrations)
    const [exports] = (await Promise.race([once(child, 'message'), exited])) as [Export[]]
    await exited
    expect(exports).toHaveLength(3)
    for (const { name, lines, growth } of exports) {
      expect([name, lines]).toEqual([name, counts.registrations + 1])
      expect(growth, `${name}: bytes`).toBeLessThan(FLAT)
    }
  },
  300_000,
)
