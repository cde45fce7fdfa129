import { once } from 'node:events'
import { createServer } from 'node:net'

// Ports from 32768 on are avoided, because the system assigns them. While a killed server is down, the system may
// assign the server's port to something else, even to an outgoing connection. A client that connects to a port without
// a listener may even be assigned the same port for its own end, and so connect to itself.
const FIRST = 10_000
const LAST = 32_767

/** Finds a port of the loopback interface that has no listener, and that the system never assigns automatically. */
export async function findFreePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST + 1))
    if (await isFree(port)) return port
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return false
    throw error
  }
  server.close()
  await once(server, 'close')
  return true
}
