import { domainsHandler } from 'domain-registration/fetch'
import { createOptions } from './options.js'

export function start(settings) {
  const { options, path, reported } = createOptions(settings)
  const handle = domainsHandler({ ...options, path })
  const POST = async request => {
    const response = await handle(request)
    await reported()
    return response
  }
  const { port } = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    routes: { [path]: { POST }, [`${path}/`]: { POST } },
    fetch: () => new Response(null, { status: 404 }),
  })
  return port
}
