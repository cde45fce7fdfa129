import { once } from 'node:events'
import { createServer } from 'node:net'

// Systems hand out ports from 32768 on by themselves. A port of those may be taken, by a connection even, while a
// server that was killed is not yet back; and a connection to one where nobody listens may come from that same port,
// and reach itself.
const FIRST = 10_000
const LAST = 32_767

/** A port of the loopback interface that nobody listens on, and that nobody is given without asking for it. */
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
