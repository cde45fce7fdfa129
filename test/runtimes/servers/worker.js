import { domainsHandler } from 'domain-registration/fetch'
import { createOptions } from './options.js'

export default {
  async fetch(request, { SETTINGS }, context) {
    // In a Worker, a connection belongs to the request that opened it, so each request needs its own options.
    const { options, path, reported } = createOptions(SETTINGS)
    const { pathname } = new URL(request.url)
    if (request.method !== 'POST' || pathname.replace(/\/$/, '') !== path) return new Response(null, { status: 404 })
    const answer = domainsHandler({ ...options, path })(request)
    context.waitUntil(answer)
    const response = await answer
    await reported()
    return response
  },
}
