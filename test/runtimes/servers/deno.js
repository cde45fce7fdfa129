import { domainsHandler } from 'domain-registration/fetch'
import { createOptions } from './options.js'

export function start(settings) {
  const { options, path, reported } = createOptions(settings)
  const handle = domainsHandler({ ...options, path })
  const { addr } = Deno.serve({ port: 0, hostname: '127.0.0.1', onListen() {} }, async request => {
    const { pathname } = new URL(request.url)
    if (request.method !== 'POST' || pathname.replace(/\/$/, '') !== path) return new Response(null, { status: 404 })
    const response = await handle(request)
    await reported()
    return response
  })
  return addr.port
}
