import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { promisify } from 'node:util'
import type { PoolConfig } from 'pg'
import { expect } from 'vitest'
import { compile } from '../compile.ts'
import { readUntil } from '../read-until.ts'

export const root = new URL('../..', import.meta.url)
export const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const processes: ChildProcess[] = []
export function killAll(): void {
  for (const child of processes) child.kill('SIGKILL')
}

export const toUrl = ({ user, password, host, port, database }: PoolConfig) =>
  `postgres://${user}:${password}@${host}:${port}/${database}`

/** Runs a program of examples/production. Resolves to its process and its port once it listens. */
export async function start(file: string, settings: Record<string, string>) {
  const child = spawn(process.execPath, [await compile(`examples/production/${file}`)], {
    cwd: root,
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: '0', DRAIN: '0', CALLS_PER_MINUTE: '1000000', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  processes.push(child)
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    errors += text
  })
  const exited = once(child, 'exit')
  const listening = /"listening".*"port":(\d+)\D/
  const printed = await readUntil(child, listening)
  const port = Number(listening.exec(printed())?.[1])
  return {
    origin: `http://127.0.0.1:${port}`,
    port,
    exited,
    signal: (name: NodeJS.Signals) => child.kill(name),
    printed,
    errors: () => errors,
    /** Kilobytes of memory, at most so far. */
    memory: () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))?.[1]),
  }
}

/** Adds a team and a key for it, as README.md of the example says. */
export async function addTeam(database: PoolConfig, pool: { query(text: string): Promise<unknown> }): Promise<string> {
  await pool.query('INSERT INTO teams (organization_id) VALUES (10)')
  const parameters = [
    'dist/cli.js',
    'keys',
    'create',
    '--organization',
    '10',
    '--scopes',
    'domains:create,domains:read',
  ]
  const env = { ...process.env, DATABASE_URL: toUrl(database) }
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: root, env })
  const [key] = /svc_org\w*_\w+/.exec(stdout) ?? []
  expect(key).toBeDefined()
  return String(key)
}

interface Answer {
  readonly status: number | undefined
  readonly text: string
  readonly keepAlive: string | undefined
}

/** Creates a function that registers names of team 1 on connections that stay open. */
export function createCaller({ port, socketPath }: { port?: number; socketPath?: string }, key: string) {
  // Idle connections do not keep the test alive, and end with the server.
  const agent = new Agent({ keepAlive: true })
  const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' }
  return (domains: readonly string[], teamId = '1') =>
    new Promise<Answer>((resolve, reject) => {
      const options = { port, socketPath, host: '127.0.0.1', path: '/v1/domains', method: 'POST', agent, headers }
      const call = request(options, async response => {
        let text = ''
        try {
          for await (const chunk of response.setEncoding('utf8')) text += chunk
          const keepAlive = response.headers['keep-alive'] as string | undefined
          resolve({ status: response.statusCode, text, keepAlive })
        } catch (error) {
          reject(error)
        }
      })
      call.on('error', reject).end(JSON.stringify({ team_id: teamId, domains }))
    })
}

/** What a server serves at /metrics. */
export const readMetrics = async (origin: string) => {
  const response = await fetch(`${origin}/metrics`)
  return { status: response.status, type: response.headers.get('Content-Type'), text: await response.text() }
}
