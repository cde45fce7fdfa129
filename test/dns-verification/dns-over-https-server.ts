import { onTestFinished } from 'vitest'
import { listen, type RunningServer } from '../listen.ts'

interface Message {
  readonly Status?: number
  readonly Answer?: readonly { readonly type: number; readonly data: string }[]
}

/** Serves replies in the JSON format of public resolvers. Any other name does not exist. */
export async function serveDnsOverHttps(
  replies: Readonly<Record<string, Message | number>>,
): Promise<RunningServer & { asked: string[] }> {
  const asked: string[] = []
  const server = await listen((request, response) => {
    const { searchParams } = new URL(request.url ?? '', 'http://localhost')
    const name = searchParams.get('name') ?? ''
    asked.push(`${searchParams.get('type')} ${name} ${request.headers.accept}`)
    const reply = replies[name] ?? { Status: 3 }
    if (typeof reply === 'number') return void response.writeHead(reply).end()
    response.setHeader('Content-Type', 'application/dns-json').end(JSON.stringify({ Status: 0, ...reply }))
  })
  onTestFinished(server.close)
  return { ...server, asked }
}
