import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A server under test: where it answers, and how to stop it. */
export interface RunningServer {
  /** `http://127.0.0.1:<port>` */
  origin: string
  close(): Promise<void>
}

/** Starts a real server on a free port of the loopback interface. */
export const listen = (listener: RequestListener): Promise<RunningServer> =>
  whenListening(createServer(listener).listen(0, '127.0.0.1'))

/** Its connections are closed with it. */
export async function whenListening(server: Server): Promise<RunningServer> {
  if (!server.listening) await once(server, 'listening')
  const { address, port } = server.address() as AddressInfo
  return {
    origin: `http://${address}:${port}`,
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
