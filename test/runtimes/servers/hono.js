import { serve } from '@hono/node-server'
import { domainsHandler } from 'domain-registration/fetch'
import { Hono } from 'hono'
import { createOptions } from './options.js'

export function start(settings) {
  const { options, path, reported } = createOptions(settings)
  const handle = domainsHandler({ ...options, path })
  const app = new Hono({ strict: false })
  app.post(path, async context => {
    const response = await handle(context.req.raw)
    await reported()
    return response
  })
  return new Promise(resolve => {
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port))
  })
}
