import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { counts } from '../counts.ts'
import type { Export } from './export-memory.ts'

/** A thousandth of what is exported at the long count, which is some 80 MB, and much more than a page. */
const FLAT = 4_000_000

test(`an export of ${counts.registrations} registrations takes the memory of some pages, in every adapter`, async () => {
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
}, 300_000)
