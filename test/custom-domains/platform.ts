import type { RequestListener } from 'node:http'

/** A hostname as the API of Cloudflare for SaaS returns it. */
interface PlatformHostname {
  readonly id: string
  readonly hostname: string
  status: string
  verification_errors?: readonly string[]
  readonly ssl: { status: string; validation_errors?: readonly { readonly message: string }[] }
}

/** What stands for the platform: the custom hostnames of one zone, over HTTP. */
export function createPlatform(token: string) {
  const hostnames = new Map<string, PlatformHostname>()
  const settings = {
    /** The status of every response, in place of an answer. */
    outage: undefined as number | undefined,
    /** Names that the platform never accepts. */
    prohibited: new Set<string>(),
    /** Names that the platform does not change. */
    stuck: new Set<string>(),
  }
  /** When each look-up arrived. */
  const lookups: { readonly hostname: string | null; readonly at: number }[] = []
  const held = new Map<string | null, () => Promise<number | undefined>>()
  let count = 0

  /**
   * Holds the next look-up of a name.
   *
   * @returns Once it has arrived: a function that lets it go on, or fail with a status.
   */
  const hold = (hostname: string) =>
    new Promise<(status?: number) => void>(arrive => {
      held.set(hostname, () => new Promise(arrive))
    })

  const listener: RequestListener = async (request, response) => {
    const { pathname, searchParams } = new URL(request.url as string, 'http://platform')
    const reply = (status: number, result: unknown, code?: number, message?: string) => {
      const body = { success: status < 400, result, errors: message === undefined ? [] : [{ code, message }] }
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
    }
    let text = ''
    for await (const chunk of request.setEncoding('utf8')) text += chunk

    const wait = held.get(searchParams.get('hostname'))
    held.delete(searchParams.get('hostname'))
    const outage = (await wait?.()) ?? settings.outage
    if (outage !== undefined) return reply(outage, null, 1000, 'Out of order')
    if (request.headers.authorization !== `Bearer ${token}`) return reply(403, null, 9109, 'Invalid access token')
    const [, id] = /^\/zones\/z1\/custom_hostnames(?:\/(\w+))?$/.exec(pathname) ?? []
    if (request.method === 'GET') {
      lookups.push({ hostname: searchParams.get('hostname'), at: performance.now() })
      const found = [...hostnames.values()].filter(({ hostname }) => hostname === searchParams.get('hostname'))
      return reply(200, found)
    }
    if (request.method === 'PATCH') {
      const known = [...hostnames.values()].find(hostname => hostname.id === id)
      if (!known) return reply(404, null, 1436, 'The custom hostname was not found.')
      if (settings.stuck.has(known.hostname)) return reply(400, null, 1400, 'This hostname cannot be changed.')
      known.status = 'pending'
      return reply(200, known)
    }
    if (request.method === 'DELETE') {
      const [known] = [...hostnames.values()].filter(hostname => hostname.id === id)
      if (!known) return reply(404, null, 1436, 'The custom hostname was not found.')
      hostnames.delete(known.hostname)
      return reply(200, { id })
    }
    const { hostname, ssl } = JSON.parse(text)
    if (hostnames.has(hostname)) return reply(409, null, 1406, 'Duplicate custom hostname found.')
    if (settings.prohibited.has(hostname)) return reply(400, null, 1411, 'Custom hostnames like this are prohibited.')
    count += 1
    const made = { id: `h${count}`, hostname, status: 'pending', ssl: { ...ssl, status: 'initializing' } }
    hostnames.set(hostname, made)
    return reply(201, made)
  }
  return { hostnames, settings, lookups, hold, listener }
}
