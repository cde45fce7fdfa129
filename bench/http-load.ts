import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** Connections that stay open, on each of which the next call is sent when the one before is answered. */
export interface Load {
  /**
   * Sends each of these requests once.
   *
   * @throws {Error} for an answer that is not 200.
   */
  send(requests: readonly Buffer[]): Promise<void>
  end(): void
}

/** Speaks just enough HTTP to load a server from the other core: answers have a `Content-Length`. */
export async function createLoad(url: string, connections: number): Promise<Load> {
  const { hostname, port } = new URL(url)
  const sockets = await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect(Number(port), hostname).setNoDelay()
      await once(socket, 'connect')
      return socket
    }),
  )
  return {
    async send(requests) {
      let next = 0
      const work = async (socket: Socket) => {
        while (next < requests.length) await exchange(socket, requests[next++] as Buffer)
      }
      await Promise.all(sockets.map(work))
    },
    end() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

function exchange(socket: Socket, request: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    let missing: number | undefined
    const settle = (error?: Error) => {
      socket.off('data', onData).off('close', onClose)
      if (error) reject(error)
      else resolve()
    }
    const onClose = () => settle(new Error('The server closed the connection'))
    const onData = (chunk: Buffer) => {
      missing ??= sizeOf(chunk)
      missing -= chunk.length
      if (missing === 0) settle()
      else if (!(missing > 0)) settle(new Error(`Not answered 200: ${chunk.toString()}`))
    }
    socket.on('data', onData).on('close', onClose).write(request)
  })
}

/** Bytes of an answer, by its first chunk, which holds its head. */
function sizeOf(chunk: Buffer): number {
  const headEnd = chunk.indexOf('\r\n\r\n') + 4
  const head = chunk.toString('latin1', 0, headEnd)
  const length = head.startsWith('HTTP/1.1 200 ') ? /content-length: (\d+)/i.exec(head)?.[1] : undefined
  return headEnd + Number(length)
}
