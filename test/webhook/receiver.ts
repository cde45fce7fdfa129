import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { listen } from '../listen.ts'

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
  const server = await listen(async (request, response) => {
    const each = { headers: request.headers, body: await text(request) }
    received.push(each)
    answer(response, each)
  })
  try {
    await use(`${server.origin}/changes`, received)
  } finally {
    await server.close()
  }
}
