/**
 * The overhead of the client in an import of 100,000 names: `registerAll`, compared with a hand-written loop that keeps
 * eight calls of 100 names under way, and does nothing else. The service is a separate process: Express with
 * PostgreSQL.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { registerAll } from 'domain-registration/client'
import { startServer } from '../test/postgres/server.ts'
import { compare, keyContext, newNames, report, time } from './measure.ts'

const NAMES = 100_000
const CALLS_BY_HAND = 8

const database = await startServer()
const server = fork(fileURLToPath(new URL('client-server.ts', import.meta.url)), [JSON.stringify(database.config)], {
  execArgv: ['--import', 'tsx'],
})
const [{ url, apiKey }] = (await once(server, 'message')) as [{ url: string; apiKey: string }]

async function registerByHand(names: readonly string[]): Promise<number> {
  let start = 0
  let created = 0
  async function call() {
    while (start < names.length) {
      const domains = names.slice(start, start + 100)
      start += 100
      const response = await fetch(url, {
        method: 'POST',
        headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ domains }),
        signal: AbortSignal.timeout(60_000),
      })
      if (response.status !== 200) throw new Error(`The response was ${response.status}: ${await response.text()}`)
      created += (await response.json()).data.totals.created
    }
  }
  await Promise.all(Array.from({ length: CALLS_BY_HAND }, call))
  return created
}

async function requireAll(created: number | Promise<number>): Promise<void> {
  if ((await created) !== NAMES) throw new Error(`${await created} of ${NAMES} names were created`)
}

const register = async (names: readonly string[]) => (await registerAll(names, { url, apiKey })).totals.created
const figure = await compare(
  () => keyContext,
  { warmUp: 1, rounds: 3 },
  () => time(() => requireAll(register(newNames(NAMES)))),
  () => time(() => requireAll(registerByHand(newNames(NAMES)))),
)
server.kill()
await database.stop()
report({ client: figure })
