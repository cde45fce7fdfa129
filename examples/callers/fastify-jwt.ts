// npm install domain-registration fastify @fastify/jwt
import jwt from '@fastify/jwt'
import { ApiError, createMemoryStore } from 'domain-registration'
import { domainsPlugin } from 'domain-registration/fastify'
import fastify from 'fastify'

const app = fastify()
app.register(jwt, { secret: process.env.JWT_SECRET ?? 'a secret for a first try' })
app.register(domainsPlugin, {
  store: createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] }),
  async authenticate({ raw }) {
    const { teamId } = await raw.jwtVerify<{ teamId: string }>().catch(cause => {
      throw new ApiError('unauthorized', 'Log in first.', { cause })
    })
    return { type: 'team', teamId, scopes: ['domains:create'] }
  },
})
await app.listen({ port: Number(process.env.PORT ?? 3000) })
console.log('POST /v1/domains') // POST /v1/domains
