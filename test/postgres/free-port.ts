import { createServer } from 'node:net'

/** A port of the loopback interface that nobody listens on: for PostgreSQL, which takes no port 0. */
export async function findFreePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}
