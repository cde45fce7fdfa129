import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, expect, test } from 'vitest'
import { seed } from '../counts.ts'
import { expectNothingLost, TIME_LIMIT } from '../whole-system/whole-system.ts'
import { nodes, type Runtime, why } from './runtimes.ts'

const { name, program } = nodes[2] as Runtime
const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'whole-system-'))
afterAll(() => rmSync(folder, { recursive: true }))

const run = async (...parameters: string[]) =>
  (await promisify(execFile)(program as string, parameters, { cwd: root, maxBuffer: 2 ** 30 })).stdout

test.skipIf(!program)(
  `${name}${program ? '' : why}, SEED=${seed}: after kills and a restore, exactly the registered names are watched`,
  async () => {
    const [file, copy] = [join(folder, 'registrations.db'), join(folder, 'copy.db')]
    await expectNothingLost({
      program: new URL('../whole-system/sqlite-node.ts', import.meta.url),
      execPath: program as string,
      nextConfig: () => ({ file }),
      isComplete: true,
      async restore() {
        await run('test/runtimes/sqlite/copy.js', file, copy)
        return { file: copy }
      },
    })
    for (const each of [file, copy]) {
      const { integrity } = JSON.parse(await run('test/runtimes/sqlite/read.js', each))
      expect(integrity).toBe('ok')
    }
  },
  TIME_LIMIT,
)
