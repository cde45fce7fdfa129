import { once } from 'node:events'
import { createServer, connect as open, type Server, type Socket } from 'node:net'
import { findFreePort } from '../free-port.ts'

type End = 'client' | 'server'

/** Data in transit. */
interface Passage {
  readonly from: End
  readonly chunk: Buffer
  /** How many bytes have come from this end of the connection before this chunk. */
  readonly before: number
}

/** How the network handles data. */
interface Outcome {
  /** How many bytes at the start of the chunk are dropped. Default 0. */
  readonly skips?: number
  /** The offset in the chunk after which nothing more is passed on. */
  readonly passes: number
  /** Data that is sent back to the sender at once, as if the other end had responded. */
  readonly answers?: Buffer
  /** Extra data that is passed on after the chunk, as if it came from the same sender. */
  readonly adds?: Buffer
  /** Whether the connection is cut after the chunk. */
  readonly isCut: boolean
}

export type Fault = (passage: Passage) => Outcome

const passes = (chunk: Buffer) => ({ passes: chunk.length, isCut: false })
const isCut = { passes: 0, isCut: true }

export const noFault: Fault = ({ chunk }) => passes(chunk)

/** Drops all data, but cuts no connection. */
export const silence: Fault = () => ({ passes: 0, isCut: false })

/** Cuts each connection after this many bytes from the client, or from the server. */
export const cutAfter =
  (bytes: number, end: End): Fault =>
  ({ from, chunk, before }) =>
    from === end && before + chunk.length > bytes ? { passes: bytes - before, isCut: true } : passes(chunk)

/** Cuts a connection before the COMMIT reaches the server. */
export const loseCommit: Fault = ({ from, chunk }) =>
  from === 'client' && chunk.includes('COMMIT\0') ? isCut : passes(chunk)

/** Cuts a connection after the server has committed, and before its response reaches the client. */
export const loseAnswerToCommit: Fault = ({ from, chunk }) =>
  from === 'server' && chunk.includes('COMMIT\0') ? isCut : passes(chunk)

/** Ends each connection when the server reports that it is ready for a query, as if the server had then crashed. */
export const endWhenReady: Fault = ({ from, chunk }) =>
  from === 'server' && chunk.subarray(-READY.length).equals(READY)
    ? { passes: chunk.length, adds: CRASHED, isCut: true }
    : passes(chunk)

/**
 * Responds to each `BEGIN` with an error instead of passing it on, but still passes on the statements after it. A
 * pooler may do this.
 */
export const refuseBegin: Fault = ({ from, chunk }) =>
  from === 'client' && chunk.subarray(0, 1).equals(QUERY) && chunk.indexOf('BEGIN') === 5
    ? { skips: 1 + chunk.readInt32BE(1), passes: chunk.length, answers: Buffer.concat([REFUSED, READY]), isCut: false }
    : passes(chunk)

// PostgreSQL documentation, section 55.7: Query, ReadyForQuery, and ErrorResponse with 53300 and with 57P02.
const QUERY = Buffer.from('Q', 'latin1')
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1')
const REFUSED = Buffer.from('E\0\0\0\x23SERROR\0VERROR\0C53300\0Mrefused\0\0', 'latin1')
const CRASHED = Buffer.from('E\0\0\0\x23SFATAL\0VFATAL\0C57P02\0Mcrashed\0\0', 'latin1')

/** Applies a fault until it has cut one connection. */
export function onlyOnce(fault: Fault): Fault {
  let isOver = false
  return passage => {
    const outcome = isOver ? passes(passage.chunk) : fault(passage)
    isOver ||= outcome.isCut
    return outcome
  }
}

/** A network between clients and a server, on its own port. */
export interface FaultyNetwork {
  readonly port: number
  /** For each end, how many bytes it has sent, over all connections. */
  readonly carried: Readonly<Record<End, number>>
  /** Applies the fault from now on, both to open connections and to new ones. */
  suffer(fault: Fault): void
  /** Cuts all connections, and refuses new ones. */
  goDown(): Promise<void>
  comeUp(): Promise<void>
}

export async function createFaultyNetwork(target: { host: string; port: number }): Promise<FaultyNetwork> {
  const sockets = new Set<Socket>()
  const carried = { client: 0, server: 0 }
  let fault = noFault

  function carry(source: Socket, destination: Socket, from: End): void {
    let before = 0
    sockets.add(source)
    const cut = () => {
      source.destroy()
      destination.destroy()
    }
    source.on('data', chunk => {
      const outcome = fault({ from, chunk, before })
      before += chunk.length
      carried[from] += chunk.length
      const arrives = Buffer.concat([chunk.subarray(outcome.skips ?? 0, outcome.passes), outcome.adds ?? Buffer.of()])
      if (outcome.answers) source.write(outcome.answers)
      if (arrives.length > 0) destination.write(arrives, () => outcome.isCut && cut())
      else if (outcome.isCut) cut()
    })
    source.on('error', () => {})
    source.on('close', () => {
      sockets.delete(source)
      destination.end()
    })
  }

  const server: Server = createServer(client => {
    const upstream = open(target)
    carry(client, upstream, 'client')
    carry(upstream, client, 'server')
  })
  async function listen(port: number): Promise<void> {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  const port = await findFreePort()
  await listen(port)

  return {
    port,
    carried,
    suffer(next) {
      fault = next
    },
    async goDown() {
      if (!server.listening) return
      const isClosed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await isClosed
    },
    comeUp: () => listen(port),
  }
}
