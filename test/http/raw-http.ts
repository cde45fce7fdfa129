import { connect } from 'node:net'

export interface RawResponse {
  status: number
  /** By header name in lower case. */
  headers: Map<string, string>
  body: string
}

/** Milliseconds after which a connection counts as hung. */
const PATIENCE = 20_000

/**
 * Sends bytes unchanged, even if no HTTP client would send them. Reads all responses until the server closes the
 * connection.
 *
 * @param hangUpAfter Closes our side this many milliseconds after the last byte, even in the middle of a body. Node
 *   then abandons a call to which it has not responded yet.
 * @param hangUpAt A pattern that matches the end of the responses, when our side closes the connection. Needed if the
 *   server leaves this to the client.
 */
export async function exchange(
  origin: string,
  request: string | Uint8Array,
  { hangUpAfter, hangUpAt }: { hangUpAfter?: number | undefined; hangUpAt?: RegExp } = {},
): Promise<RawResponse[]> {
  const { hostname, port } = new URL(origin)
  const socket = connect({ host: hostname, port: Number(port), allowHalfOpen: true })
  const chunks: Buffer[] = []
  socket.on('data', chunk => {
    chunks.push(chunk)
    if (hangUpAt?.test(Buffer.concat(chunks).toString('latin1'))) socket.destroy()
  })
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      socket.destroy()
      reject(
        new Error(
          `The server neither responded completely nor closed the connection; it sent: ${Buffer.concat(chunks)}`,
        ),
      )
    }, PATIENCE)
    socket.on('end', () => socket.end())
    // A server that stops reading resets the connection while we still send. The responses that arrived before the
    // reset are still valid.
    socket.on('error', () => {})
    socket.on('close', () => {
      clearTimeout(timer)
      clearTimeout(hangUp)
      resolve()
    })
    socket.write(request)
    const hangUp = hangUpAfter === undefined ? undefined : setTimeout(() => socket.end(), hangUpAfter)
  })
  return parseResponses(Buffer.concat(chunks).toString('latin1'))
}

/** The bytes of a request. */
export function toWire(
  fields: readonly (readonly [name: string, value: string])[],
  body: string | Uint8Array,
  requestLine = 'POST /v1/domains HTTP/1.1',
): Buffer {
  const head = [requestLine, ...fields.map(field => field.join(': '))].join('\r\n')
  return Buffer.concat([Buffer.from(`${head}\r\n\r\n`, 'latin1'), Buffer.from(body as string)])
}

/** Converts the response into the `Response` that `fetch` would return. */
export const toResponse = ({ status, headers, body }: RawResponse) =>
  new Response(body, { status, headers: [...headers] })

function parseResponses(text: string): RawResponse[] {
  const responses: RawResponse[] = []
  let rest = text
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n')
    const [statusLine = '', ...lines] = rest.slice(0, end).split('\r\n')
    const status = Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(statusLine)?.[1])
    if (end === -1 || !status) throw new Error(`Not an HTTP/1.1 response: ${rest}`)
    const headers = new Map(
      lines.map(line => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
    )
    rest = rest.slice(end + 4)
    const isInterim = status < 200
    const [body, length] = isInterim ? ['', 0] : readBody(rest, headers)
    if (!isInterim) responses.push({ status, headers, body: Buffer.from(body, 'latin1').toString('utf8') })
    rest = rest.slice(length)
  }
  return responses
}

/** Returns the body, and the number of characters that the body takes up in the text. */
function readBody(text: string, headers: Map<string, string>): [body: string, length: number] {
  if (headers.get('transfer-encoding') !== 'chunked') {
    const length = Number(headers.get('content-length') ?? text.length)
    return [text.slice(0, length), length]
  }
  let body = ''
  let offset = 0
  for (;;) {
    const lineEnd = text.indexOf('\r\n', offset)
    const size = Number.parseInt(text.slice(offset, lineEnd), 16)
    if (!(size > 0)) return [body, lineEnd + 4]
    body += text.slice(lineEnd + 2, lineEnd + 2 + size)
    offset = lineEnd + 2 + size + 2
  }
}
