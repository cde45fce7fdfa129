import { readFileSync } from 'node:fs'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { startProgram } from '../start-program.ts'
import { openDatabase } from './server.ts'

/** Whether a process is stopped: the state after the name in `/proc`, as in `ps`. */
const isFrozen = (pid: number) => / T \d/.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))

test.runIf(process.platform === 'linux')(
  'a call whose process is frozen while it saves pushes nothing, because the name may have been released meanwhile',
  async () => {
    const server = await openDatabase()
    onTestFinished(() => server.stop())
    const database = server.createPool()
    await migrate({ database })
    const program = startProgram(new URL('freezing-process.ts', import.meta.url), JSON.stringify(server.config))
    onTestFinished(() => program.kill())
    const answered = program.receive()
    await vi.waitFor(() => expect(isFrozen(program.pid)).toBe(true), { timeout: 30_000 })

    const accepted: string[] = []
    const store = createPostgresStore({
      database,
      findTeam: () => null,
      synchronize: changes => void accepted.push(...changes.map(({ kind }) => kind)),
      synchronizeTimeLimit: 200,
    })
    expect(await store.release('1', ['example.com'])).toHaveLength(1)
    // The release is due when the lease of the frozen call has ended.
    await vi.waitFor(
      async () => {
        await store.synchronizePending()
        expect(accepted).toEqual(['released'])
      },
      { timeout: 30_000 },
    )
    process.kill(program.pid, 'SIGCONT')
    expect(await answered).toEqual({ outcome: 'domain_registration_unavailable', pushed: [] })
  },
)
