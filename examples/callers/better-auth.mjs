// npm install domain-registration express better-auth @better-auth/api-key; see docs/authentication.md
import { randomUUID } from 'node:crypto'
import { apiKey } from '@better-auth/api-key'
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node'
import { ApiError, createMemoryStore } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import express from 'express'

const store = createMemoryStore()
const auth = betterAuth({
  baseURL: 'http://localhost:3000',
  secret: process.env.BETTER_AUTH_SECRET ?? 'a secret for a first try, with more than 32 characters',
  database: memoryAdapter({ user: [], session: [], account: [], verification: [], apikey: [] }), // replace with yours
  emailAndPassword: { enabled: true },
  user: { additionalFields: { teamId: { type: 'string', input: false, required: false } } },
  databaseHooks: { user: { create: { before: async user => ({ data: { ...user, teamId: createTeam() } }) } } },
  plugins: [apiKey({ enableSessionForAPIKeys: true, rateLimit: { maxRequests: 1000, timeWindow: 3_600_000 } })],
})

function createTeam() {
  const id = randomUUID() // in your own table; findTeam gets it unchanged
  store.addTeam({ id, organizationId: id, state: 'active' })
  return id
}

async function authenticate({ raw }) {
  const session = await auth.api.getSession({ headers: fromNodeHeaders(raw.headers) }).catch(refuse)
  if (!session) throw new ApiError('unauthorized', 'Log in first.')
  return { type: 'team', teamId: session.user.teamId, scopes: ['domains:create'] }
}

/** The plugin for API keys throws if a key is wrong, or used too often. */
function refuse(cause) {
  if (cause.statusCode === 429) throw new ApiError('too_many_requests', 'This API key is used too often.', { cause })
  if (cause.statusCode === 401 || cause.statusCode === 403) return null
  throw cause
}

const app = express().all('/api/auth/*path', toNodeHandler(auth)).use(domainsRouter({ store, authenticate }))
app.listen(process.env.PORT ?? 3000).on('listening', () => console.log('POST /v1/domains')) // POST /v1/domains
