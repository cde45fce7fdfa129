/**
 * An import with every kind of failure: the client and the server are killed, PostgreSQL is killed twice, and the
 * service is unreachable for a long time. At the end, the monitor must watch every name. Run this test by hand:
 *
 *     node --import tsx test/client/endurance.ts                           50,000 names, 20 seconds of outage
 *     NAMES=1000000 OUTAGE=600 node --import tsx test/client/endurance.ts  a million names, ten minutes of outage
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Pool } from 'pg'
import { generateApiKey } from '../../src/keys/api-key.ts'
import { createPostgresKeyStore, createPostgresStore, migrate } from '../../src/postgres/index.ts'
import { findFreePort } from '../postgres/free-port.ts'
import { createMortalServer } from '../postgres/mortal-server.ts'
import { startNodes } from '../postgres/nodes.ts'
import { createMonitorProcess, secret } from '../webhook/monitor-process.ts'
import type { RegisterMessage, RegisterTask } from './register-program.ts'

const NAMES = Number(process.env.NAMES ?? 50_000)
/** Seconds. */
const OUTAGE = Number(process.env.OUTAGE ?? 20)
const schema = 'endurance'

const seconds = (count: number) => new Promise(resolve => setTimeout(resolve, count * 1000))
const log = (what: string) => console.log(`${(performance.now() / 1000).toFixed(1)} s: ${what}`)

const database = await createMortalServer()
await database.start()
const monitor = await createMonitorProcess(await findFreePort())
await monitor.start()
const pool = new Pool(database.config)
pool.on('error', () => {})
await migrate({ database: pool, schema })
const nodes = await startNodes([database.config], { monitor: { url: monitor.url, secret }, schema })
const [node] = nodes.all
if (!node) throw new Error('There is no server')
const keys = createPostgresKeyStore({ database: pool, schema })
const { key: apiKey, hash } = await generateApiKey({ type: 'team', id: '1' })
await keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:create'] })

/**
 * The gateway gives the service the same address after each restart. While `isAway` is true, the gateway accepts no
 * clients.
 */
let isAway = false
const gateway = createServer(client => {
  client.on('error', () => {})
  if (isAway) return client.destroy()
  const server = connect(Number(new URL(node.origin()).port), '127.0.0.1').on('error', () => client.destroy())
  client.pipe(server).pipe(client)
  client.once('close', () => server.destroy())
  server.once('close', () => client.destroy())
}).listen(0, '127.0.0.1')
await once(gateway, 'listening')
const { port } = gateway.address() as { port: number }

let done = 0
let resumeAt = 0
let client: ChildProcess
/** Rejects if a client fails. After a client is killed, starts another one, which continues the work. */
function startClient(): Promise<void> {
  const child = fork(fileURLToPath(new URL('register-program.ts', import.meta.url)), {
    execArgv: ['--import', 'tsx', '--no-warnings'],
  })
  client = child
  const options = { url: `http://127.0.0.1:${port}/v1/domains`, apiKey }
  child.send({ from: resumeAt, to: NAMES, options } satisfies RegisterTask)
  return new Promise((resolve, reject) => {
    child.on('message', (message: RegisterMessage) => {
      if ('failure' in message) return reject(new Error(message.failure))
      if ('isDone' in message) return resolve()
      ;({ done, resumeAt } = message)
    })
    child.once('exit', (status, signal) => {
      if (signal === 'SIGKILL') startClient().then(resolve, reject)
      else if (status !== 0) reject(new Error(`The client ended with ${status}`))
    })
  })
}

/** Acts as a supervisor: if a server exits because it finds no database, starts it again. */
async function killServer(): Promise<void> {
  await node?.kill()
  while (
    !(await node?.start().then(
      () => true,
      () => false,
    ))
  )
    await seconds(0.5)
}

async function stopDatabase(): Promise<void> {
  await database.killAll()
  await seconds(5)
  await database.start()
}

async function beAway(): Promise<void> {
  isAway = true
  await node?.kill()
  await seconds(OUTAGE)
  await killServer()
  isAway = false
}

const troubles: readonly [what: string, work: () => unknown][] = [
  ['the server is killed', killServer],
  ['PostgreSQL is killed, and away for 5 s', stopDatabase],
  ['the client is killed', () => client.kill('SIGKILL')],
  [`the service is away for ${OUTAGE} s`, beAway],
  ['PostgreSQL is killed, and away for 5 s', stopDatabase],
  ['the server is killed', killServer],
  ['the client is killed', () => client.kill('SIGKILL')],
]

async function causeTrouble(): Promise<void> {
  for (const [index, [what, work]] of troubles.entries()) {
    const place = ((index + 1) * NAMES) / (troubles.length + 1)
    while (done < place) await seconds(0.05)
    log(`${done} of ${NAMES} names; ${what}`)
    await work()
    log(`${done} of ${NAMES} names when that was over`)
  }
}

try {
  await Promise.all([startClient(), causeTrouble()])
  log('every name has its result')
  const store = createPostgresStore({ database: pool, schema, findTeam: () => null })
  while ((await store.countPending()) > 0) await seconds(0.5)
  const watched = new Set(Object.values(await monitor.watched()))
  const missing = Array.from({ length: NAMES }, (_, number) => `n${number}.com`).filter(name => !watched.has(name))
  log(`${watched.size} of ${NAMES} names at the monitor, ${missing.length} missing`)
  if (missing.length > 0 || watched.size !== NAMES) process.exitCode = 1
} finally {
  gateway.close()
  await nodes.stop()
  await monitor.remove()
  await pool.end()
  await database.remove()
}
