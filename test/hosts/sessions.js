/** The recipes for sessions: in each program, the application's own session identifies the caller. */
import { randomUUID } from 'node:crypto'
import { apiKey } from '@better-auth/api-key'
import fastifyJwt from '@fastify/jwt'
import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { fromNodeHeaders, toNodeHandler } from 'better-auth/node'
import { ApiError, createMemoryStore } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import { domainsPlugin } from 'domain-registration/fastify'
import express from 'express'
import fastify from 'fastify'
import passport from 'passport'

const createStore = () => createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const ofTeam = teamId => ({ type: 'team', teamId, scopes: ['domains:create'] })

/** Used in place of a strategy such as `passport-local`. */
class TicketStrategy extends passport.Strategy {
  name = 'ticket'
  authenticate(request) {
    if (request.headers['x-ticket'] === 'valid') this.success({ teamId: '1' })
    else this.pass()
  }
}

export function createPassportApp() {
  const authenticator = new passport.Passport().use(new TicketStrategy())
  return express().use(
    authenticator.authenticate('ticket', { session: false }),
    domainsRouter({
      store: createStore(),
      authenticate({ raw }) {
        if (!raw.user) throw new ApiError('unauthorized', 'Log in first.')
        return ofTeam(raw.user.teamId)
      },
    }),
  )
}

/** Every user is a team, whose ID is a UUID. */
export function createBetterAuthApp() {
  const store = createMemoryStore()
  const auth = betterAuth({
    baseURL: 'http://localhost',
    secret: 'a secret of this test, with more than 32 characters',
    database: memoryAdapter({ user: [], session: [], account: [], verification: [], apikey: [] }),
    emailAndPassword: { enabled: true },
    user: { additionalFields: { teamId: { type: 'string', input: false, required: false } } },
    databaseHooks: { user: { create: { before: async user => ({ data: { ...user, teamId: createTeam() } }) } } },
    plugins: [apiKey({ enableSessionForAPIKeys: true, rateLimit: { maxRequests: 2, timeWindow: 60_000 } })],
    telemetry: { enabled: false },
    logger: { disabled: true },
  })

  function createTeam() {
    const id = randomUUID()
    store.addTeam({ id, organizationId: id, state: 'active' })
    return id
  }

  async function authenticate({ raw }) {
    const session = await auth.api.getSession({ headers: fromNodeHeaders(raw.headers) }).catch(refuse)
    if (!session) throw new ApiError('unauthorized', 'Log in first.')
    return { type: 'team', teamId: session.user.teamId, scopes: ['domains:create'] }
  }

  function refuse(cause) {
    if (cause.statusCode === 429) throw new ApiError('too_many_requests', 'This API key is used too often.', { cause })
    if (cause.statusCode === 401 || cause.statusCode === 403) return null
    throw cause
  }

  return express().all('/api/auth/*path', toNodeHandler(auth)).use(domainsRouter({ store, authenticate }))
}

export function createJwtApp() {
  const app = fastify()
  app.register(fastifyJwt, { secret: 'a secret of this test' })
  app.register(domainsPlugin, {
    store: createStore(),
    async authenticate({ raw }) {
      const { teamId } = await raw.jwtVerify().catch(cause => {
        throw new ApiError('unauthorized', 'Log in first.', { cause })
      })
      return ofTeam(teamId)
    },
  })
  return app
}
