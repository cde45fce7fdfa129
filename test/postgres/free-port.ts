import { once } from 'node:events'
import { createServer } from 'node:net'

// Systems assign ports from 32768 on automatically. Such a port may be taken, even by a connection, while a killed
// server is not yet back, and a connection to a port without a listener may originate from that same port and reach
// itself.
const FIRST = 10_000
const LAST = 32_767

/** A port of the loopback interface without a listener, outside the range that is assigned automatically. */
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
