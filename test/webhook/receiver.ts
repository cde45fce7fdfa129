import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export const toIds = ({ body }: Received): string[] =>
  JSON.parse(body).data.changes.map(({ domainId }: { domainId: string }) => domainId)

/** A real server that notes what comes and answers as told; 204 by default. */
export async function receive(
  use: (url: string, received: Received[]) => Promise<void>,
  answer: (response: ServerResponse, received: Received) => unknown = response => response.writeHead(204).end(),
): Promise<void> {
  const received: Received[] = []
  const server = createServer(async (request, response) => {
    const each = { headers: request.headers, body: await text(request) }
    received.push(each)
    answer(response, each)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}/changes`, received)
  } finally {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
}
