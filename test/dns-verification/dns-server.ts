import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer, type Socket } from 'node:net'
import packet, { type Answer, type Packet } from 'dns-packet'

/** What a name server answers to one question. */
export type Reply =
  | {
      readonly answers?: readonly Answer[]
      /** `NXDOMAIN`, `SERVFAIL`, `REFUSED` … Default `NOERROR`. */
      readonly rcode?: string
      /** Over UDP, the answer is cut off, so it must be asked for again over TCP. */
      readonly isTruncated?: boolean
    }
  /** Bytes in place of a message. */
  | Buffer
  /** No answer. */
  | null

/** @param type `TXT`, `SOA` … */
export type Script = (name: string, type: string, transport: 'udp' | 'tcp') => Reply

/** A scripted name server on loopback, with real packets (RFC 1035, section 4) over UDP and TCP. */
export interface DnsServer {
  /** `<host>:<port>` */
  readonly address: string
  readonly port: number
  /** The questions that arrived, such as `TXT _x.example.com`; over TCP, `tcp TXT _x.example.com`. */
  readonly asked: string[]
  close(): void
}

const RCODES = ['NOERROR', 'FORMERR', 'SERVFAIL', 'NXDOMAIN', 'NOTIMP', 'REFUSED']
const TRUNCATED = 1 << 9
const ANSWERS_FROM_A_RESOLVER = (1 << 10) | (1 << 8) | (1 << 7)

export async function startDnsServer(script: Script, host = '127.0.0.1', at?: number): Promise<DnsServer> {
  const asked: string[] = []

  function answer(query: Packet, transport: 'udp' | 'tcp'): Buffer | null {
    const [question] = query.questions ?? []
    const name = question?.name.toLowerCase() ?? ''
    const type = question?.type ?? ''
    asked.push(`${transport === 'tcp' ? 'tcp ' : ''}${type} ${name}`)
    const reply = script(name, type, transport)
    if (reply === null || Buffer.isBuffer(reply)) return reply
    const isCut = reply.isTruncated === true && transport === 'udp'
    return packet.encode({
      type: 'response',
      ...(query.id !== undefined && { id: query.id }),
      flags: ANSWERS_FROM_A_RESOLVER | RCODES.indexOf(reply.rcode ?? 'NOERROR') | (isCut ? TRUNCATED : 0),
      ...(query.questions && { questions: query.questions }),
      answers: isCut ? [] : [...(reply.answers ?? [])],
    })
  }

  const { tcp, udp, port } = await bind(host, at)
  udp.on('message', (message, { port, address }) => {
    const response = answer(packet.decode(message), 'udp')
    if (response) udp.send(response, port, address)
  })
  const sockets = new Set<Socket>()
  tcp.on('connection', socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    let received = Buffer.alloc(0)
    socket.on('data', bytes => {
      received = Buffer.concat([received, bytes])
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return
      const response = answer(packet.decode(received.subarray(2, 2 + received.readUInt16BE(0))), 'tcp')
      received = Buffer.alloc(0)
      if (!response) return
      const length = Buffer.alloc(2)
      length.writeUInt16BE(response.length)
      socket.write(Buffer.concat([length, response]))
    })
  })
  return {
    address: `${host}:${port}`,
    port,
    asked,
    close() {
      if (tcp.listening) udp.close()
      tcp.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Binds both transports to one port. A port that is free for TCP may be taken for UDP. */
async function bind(host = '127.0.0.1', at = 0) {
  for (;;) {
    const tcp = createServer().listen(at, host)
    await once(tcp, 'listening')
    const { port } = tcp.address() as AddressInfo
    const udp = createSocket('udp4')
    udp.bind(port, host)
    const isBound = await once(udp, 'listening').then(
      () => true,
      () => false,
    )
    if (isBound) return { tcp, udp, port }
    tcp.close()
    udp.close()
  }
}

/** @param values Each is one string or several of a TXT record. */
export const txt = (
  name: string,
  ...values: readonly (string | Buffer | readonly string[])[]
): { answers: Answer[] } => ({
  answers: values.map(data => ({
    type: 'TXT',
    name,
    ttl: 0,
    data: Array.isArray(data) ? [...data] : (data as string),
  })),
})
