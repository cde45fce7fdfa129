import { once } from 'node:events'
import { domainsRouter } from 'domain-registration/express'
import express from 'express'
import { createOptions } from './options.js'

export async function start(settings) {
  const { options, path, reported } = createOptions(settings)
  const app = express()
  app.use((_, response, next) => {
    const end = response.end.bind(response)
    response.end = (...parameters) => {
      reported().then(() => end(...parameters))
      return response
    }
    next()
  })
  app.use(domainsRouter({ ...options, path }))
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server.address().port
}
