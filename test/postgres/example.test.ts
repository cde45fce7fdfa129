import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { hashApiKey } from '../../src/keys/api-key.ts'
import { createPostgresKeyStore } from '../../src/postgres/index.ts'
import { compile } from '../compile.ts'
import { isLong } from '../counts.ts'
import { readUntil } from '../read-until.ts'
import { wasmFlags } from '../start-program.ts'
import { openDatabase, type TestServer } from './server.ts'

const run = promisify(execFile)
const root = new URL('../..', import.meta.url)
const directory = mkdtempSync(join(tmpdir(), 'postgres-example-'))
let server: TestServer
let running: ChildProcess | undefined
beforeAll(async () => {
  server = await openDatabase()
})
afterEach(() => void running?.kill('SIGKILL'))
afterAll(async () => {
  rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 })
  await server.stop()
})

const toSettings = ({ config: { user, password, host, port, database } }: TestServer) => ({
  DATABASE_URL: `postgres://${user}:${password}@${host}:${port}/${database}`,
})

/** The call that the example prints once it listens. */
const CALL = /curl .+'\n/s

/** Starts the example, and waits until it listens. */
async function start(settings: Record<string, string>) {
  const { DATABASE_URL: _, ...env } = process.env
  const child = spawn(process.execPath, [...wasmFlags, await compile('examples/postgres.ts')], {
    cwd: root,
    env: { ...env, PORT: '0', ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  running = child
  const printed = await readUntil(child, CALL)
  return {
    printed,
    key: /svc_team_\w+/.exec(printed())?.[0],
    paste: async () => JSON.parse((await run('bash', ['-c', CALL.exec(printed())?.[0] ?? ''])).stdout),
    async register(key: string | undefined) {
      const response = await fetch(`http://localhost:${/port (\d+)/.exec(printed())?.[1]}/v1/domains`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' },
        body: '{"domains":["www.example.com","*.example.org"]}',
      })
      return { status: response.status, ...(await response.json()) }
    },
    async end(...signals: NodeJS.Signals[]) {
      const exit = once(child, 'exit')
      for (const signal of signals) child.kill(signal)
      return (await exit)[0] as number | null
    },
  }
}

describe('examples/postgres.ts', () => {
  // PGlite takes seconds to start, so a short run leaves it out.
  test.each([
    ['in PostgreSQL', () => toSettings(server)] as const,
    ...(isLong ? [['in a folder', () => ({ DATA_FOLDER: join(directory, 'data') })] as const] : []),
  ])(
    'with its data %s, loses nothing if it is killed, prints a curl line at each start, and exits on SIGTERM',
    async (_, settings) => {
      const first = await start(settings())
      const created = await first.register(first.key)
      expect(created).toMatchObject({ status: 200, data: { totals: { created: 2, existing: 0, invalid: 0 } } })
      expect(first.printed()).toContain('registered www.example.com\nregistered *.example.org\n')
      await first.end('SIGKILL')

      const second = await start(settings())
      expect(await second.paste()).toMatchObject({ data: { totals: { created: 0, existing: 2, invalid: 1 } } })
      expect(await second.register(first.key)).toEqual({
        status: 200,
        data: {
          results: created.data.results.map((result: object) => ({ ...result, status: 'existing' })),
          totals: { created: 0, existing: 2, invalid: 0 },
        },
      })
      expect(await second.register(`${first.key?.slice(0, -1)}x`)).toMatchObject({ status: 401 })
      expect(second.printed(), 'names watched after a restart').not.toContain('Watching')
      expect(await second.end('SIGTERM')).toBe(0)
    },
  )

  test('revokes its key when it exits, and a second signal changes nothing', async () => {
    const { key = '', end } = await start(toSettings(server))
    expect(await end('SIGTERM', 'SIGINT', 'SIGTERM')).toBe(0)
    const keys = createPostgresKeyStore({ database: server.createPool() })
    expect(await keys.findKey(await hashApiKey(key))).toMatchObject({ revokedAt: expect.any(Date) })
  })

  test('imports no local file, so it is easy to copy', () => {
    const source = readFileSync(new URL('examples/postgres.ts', root), 'utf8')
    expect(source).not.toMatch(/from '\.\.?\//)
  })
})
