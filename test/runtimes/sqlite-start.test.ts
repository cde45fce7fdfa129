import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { readUntil } from '../read-until.ts'
import { nodes, type Runtime, why } from './runtimes.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'sqlite-start-'))
const running = new Set<ChildProcess>()
afterAll(() => {
  for (const each of running) each.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

/** Starts the program of `npm start`. */
async function start({ program, name }: Runtime) {
  const file = join(folder, `${name}.db`)
  const server = spawn(program as string, ['--import', 'tsx', 'examples/documentation.ts'], {
    cwd: root,
    env: { ...process.env, PORT: '0', DATABASE_FILE: file },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running.add(server)
  const printed = (await readUntil(server, /^(?=.*Read and try it: .+\n).*curl/s))()
  const [, key = ''] = /Team key: +(\S+)/.exec(printed) ?? []
  const [, origin = ''] = /Read and try it: (\S+)\//.exec(printed) ?? []
  return {
    file,
    printed,
    key,
    async register(withKey: string) {
      const response = await fetch(`${origin}/v1/domains`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${withKey}` },
        body: JSON.stringify({ domains: ['www.example.com', '*.example.org'] }),
      })
      return (await response.json()) as { data: { results: { status: string; domainId: string }[] } }
    },
    async kill() {
      server.kill('SIGKILL')
      await once(server, 'exit')
    },
  }
}

describe('npm start keeps registrations and keys when it is killed and started again,', () => {
  for (const runtime of nodes.slice(1)) {
    test.skipIf(!runtime.program)(`in ${runtime.name}${runtime.program ? '' : why}`, async () => {
      const first = await start(runtime)
      expect(first.printed).toContain(`Registrations and keys are kept in ${first.file}\n`)
      const { results } = (await first.register(first.key)).data
      expect(results).toMatchObject([{ status: 'created' }, { status: 'created' }])
      await first.kill()

      const second = await start(runtime)
      expect((await second.register(first.key)).data.results).toEqual(
        results.map(result => ({ ...result, status: 'existing' })),
      )
      // The program creates and prints keys only at its first start.
      expect(first.printed).toContain('svc_team_3_')
      expect(second.printed).not.toContain('svc_')
      await second.kill()
    })
  }
})
