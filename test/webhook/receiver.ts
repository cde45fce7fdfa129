import type { IncomingHttpHeaders, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { listen } from '../listen.ts'

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export const toIds = ({ body }: Received): string[] =>
  JSON.parse(body).data.changes.map(({ domainId }: { domainId: string }) => domainId)

/** A real server for one test, which records requests and sends the configured responses, by default 204. */
export async function receive(
  answer: (response: ServerResponse, received: Received) => unknown = response => response.writeHead(204).end(),
) {
  const received: Received[] = []
  const { origin, close } = await listen(async (request, response) => {
    const each = { headers: request.headers, body: await text(request) }
    received.push(each)
    answer(response, each)
  })
  onTestFinished(close)
  return { url: `${origin}/changes`, received }
}
