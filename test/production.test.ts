import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { openDatabase, type TestServer } from './postgres/server.ts'

const root = new URL('..', import.meta.url)
const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const processes: ChildProcess[] = []
let database: TestServer
let env: NodeJS.ProcessEnv

beforeAll(async () => {
  database = await openDatabase()
  const { user, password, host, port, database: name } = database.config
  env = {
    ...process.env,
    DATABASE_URL: `postgres://${user}:${password}@${host}:${port}/${name}`,
    WEBHOOK_SECRET: secret,
    PORT: '0',
    DRAIN: '0',
  }
})
afterAll(async () => {
  for (const child of processes) child.kill('SIGKILL')
  await database.stop()
})

/** Runs a program of examples/production. Resolves to its process and its port once it listens. */
async function start(file: string, settings: Record<string, string> = {}) {
  const child = spawn(process.execPath, ['--import', 'tsx', `examples/production/${file}`], {
    cwd: root,
    env: { ...env, ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  processes.push(child)
  let printed = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    printed += text
  })
  const port = () => Number(/"listening".*"port":(\d+)/.exec(printed)?.[1])
  const exited = once(child, 'exit')
  while (!port()) {
    const text = await Promise.race([once(child.stdout, 'data'), exited.then(() => null)])
    if (!text) throw new Error(`${file} ended: ${printed}`)
  }
  return { port: port(), exited, stop: () => child.kill('SIGTERM'), printed: () => printed }
}

test('examples/production registers, pushes, measures, and stops although callers keep their connections', async () => {
  const receiver = await start('receiver.ts')
  const server = await start('server.ts', { WEBHOOK_URL: `http://127.0.0.1:${receiver.port}/` })
  const pool = database.createPool()
  await pool.query('INSERT INTO teams (organization_id) VALUES (10)')
  const parameters = ['dist/cli.js', 'keys', 'create', '--organization', '10']
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: root, env })
  const key = /svc_org\w*_\w+/.exec(stdout)?.[0]
  expect(key).toBeDefined()
  const origin = `http://127.0.0.1:${server.port}`

  const agent = new Agent({ keepAlive: true })
  /** Sends a call on a connection that stays open. */
  function post(body: object): Promise<{ status: number | undefined; text: string; connection: string | undefined }> {
    return new Promise((resolve, reject) => {
      const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
      const call = request(`${origin}/v1/domains`, { method: 'POST', agent, headers }, async response => {
        let text = ''
        for await (const chunk of response.setEncoding('utf8')) text += chunk
        resolve({ status: response.statusCode, text, connection: response.headers.connection })
      })
      call.on('error', reject).end(JSON.stringify(body))
    })
  }
  const domains = ['www.example.com', '*.example.org', 'localhost']
  const { status, text } = await post({ team_id: '1', domains })
  expect([status, JSON.parse(text).data?.totals]).toEqual([200, { created: 2, existing: 0, invalid: 1 }])
  expect((await post({ team_id: '9'.repeat(29), domains })).status).toBe(404)
  const { rows } = await pool.query('SELECT domain FROM watched WHERE NOT is_released ORDER BY domain')
  expect(rows).toEqual([{ domain: '*.example.org' }, { domain: 'www.example.com' }])
  expect((await fetch(`${origin}/health`)).status).toBe(204)
  expect((await fetch(`${origin}/ready`)).status).toBe(204)
  const metrics = await (await fetch(`${origin}/metrics`)).text()
  expect(metrics).toContain('domains_calls_total{operation="create",status="200"} 1\ndomains_pending 0\n')

  /** Calls without a pause, until the server accepts no more connections. */
  const statuses = new Set<number | undefined>()
  async function callOn(): Promise<void> {
    try {
      for (;;) statuses.add((await post({ team_id: '1', domains })).status)
    } catch {}
  }
  const callers = Promise.all(Array.from({ length: 4 }, callOn))
  await vi.waitFor(() => expect(statuses.size).toBeGreaterThan(0))
  server.stop()
  expect((await server.exited)[0]).toBe(0)
  await callers
  expect([...statuses]).toEqual([200])
  expect(server.printed()).toContain('"event":"stopped"')
  receiver.stop()
  expect((await receiver.exited)[0]).toBe(0)
  agent.destroy()
})
