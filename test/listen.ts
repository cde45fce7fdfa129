import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server under test: its origin, and a function that stops it. */
export interface RunningServer {
  /** `http://127.0.0.1:<port>` */
  origin: string
  close(): Promise<void>
}

/** Starts a real server on a free port of the loopback interface. */
export const listen = (listener: RequestListener): Promise<RunningServer> =>
  whenListening(createServer(listener).listen(0, '127.0.0.1'))

/** Stops a server, and closes its connections. */
export async function whenListening(server: Server): Promise<RunningServer> {
  if (!server.listening) await once(server, 'listening')
  const { address, port } = server.address() as AddressInfo
  return {
    origin: `http://${address}:${port}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections?.()
      await closed
    },
  }
}
