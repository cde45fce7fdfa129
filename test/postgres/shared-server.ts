import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type RunningServer, startPostgres } from './server.ts'

/** The environment variable with the address at which test files request the server. */
const ADDRESS = 'SHARED_POSTGRES'

/** No `fsync`, because no test kills the server, and enough connections for all files that run at once. */
const FLAGS = ['fsync=off', 'max_connections=300'].flatMap(setting => ['-c', setting])

/**
 * Vitest's global setup: one PostgreSQL for all files of a run, started when the first file requests it.
 *
 * @returns A function that stops it.
 */
export async function setup(): Promise<(() => Promise<void>) | undefined> {
  // The projects share one server too.
  if (process.env[ADDRESS]) return
  let server: ReturnType<typeof startPostgres> | undefined
  const door = createServer(async (_, response) => {
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
