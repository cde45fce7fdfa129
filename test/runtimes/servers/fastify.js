import { domainsPlugin } from 'domain-registration/fastify'
import fastify from 'fastify'
import { createOptions } from './options.js'

export async function start(settings) {
  const { options, path, reported } = createOptions(settings)
  const app = fastify()
  app.addHook('onSend', async () => void (await reported()))
  app.register(domainsPlugin, { ...options, path })
  await app.listen({ port: 0, host: '127.0.0.1' })
  return app.server.address().port
}
