import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const PROCESSES = 4
const FILES = 20

test('processes that start at once on a new file all find their tables', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sqlite-start-'))
  const program = fileURLToPath(new URL('../registry/two-lists-process.ts', import.meta.url))
  const module = new URL('open-store.ts', import.meta.url).href
  const children = Array.from({ length: PROCESSES }, () =>
    fork(program, [module], { execArgv: ['--import', 'tsx', '--no-warnings'] }),
  )
  try {
    await Promise.all(children.map(child => once(child, 'message')))
    for (let file = 0; file < FILES; file += 1) {
      const answers = children.map(async child => {
        const answer = Promise.race([once(child, 'message'), once(child, 'exit')])
        child.send({ call: 'open', parameters: [join(folder, `${file}.db`)] })
        return (await answer)[0]
      })
      expect(await Promise.all(answers)).toEqual(children.map(() => 'open'))
    }
  } finally {
    for (const child of children) child.kill('SIGKILL')
    rmSync(folder, { recursive: true })
  }
})
