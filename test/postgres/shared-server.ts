import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type RunningServer, startPostgres } from './server.ts'

/** The environment variable that contains the address at which test files request the server. */
const ADDRESS = 'SHARED_POSTGRES'

/**
 * The settings of the server: no `fsync`, because no test kills it, and enough connections for all files that run at
 * once.
 */
const FLAGS = ['fsync=off', 'max_connections=300'].flatMap(setting => ['-c', setting])

/**
 * The global setup of Vitest: all test files of a run share one PostgreSQL, which is started when the first file
 * requests it.
 *
 * @returns A function that stops the server.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // The projects of a Vitest run also share one server.
  if (process.env[ADDRESS]) return
  let server: ReturnType<typeof startPostgres> | undefined
  const door = createServer(async (_, response) => {
    // Otherwise the server could close an idle connection at the moment at which a test file reuses it.
    response.shouldKeepAlive = false
    try {
      server ??= startPostgres(FLAGS)
      const { config, logFile } = await server
      response.end(JSON.stringify({ config, logFile } satisfies RunningServer))
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  }).listen(0, '127.0.0.1')
  await once(door, 'listening')
  process.env[ADDRESS] = `http://127.0.0.1:${(door.address() as AddressInfo).port}`
  return async () => {
    door.close()
    await (await server)?.stop()
  }
}

/** The server of this run. */
export async function findSharedServer(): Promise<RunningServer> {
  const address = process.env[ADDRESS]
  if (!address) throw new Error('Only a run of vitest has a shared PostgreSQL: see vitest.config.ts')
  const response = await fetch(address)
  if (!response.ok) throw new Error(await response.text())
  return (await response.json()) as RunningServer
}
