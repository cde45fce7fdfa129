/** The sessions of docs/recipes: each program takes the caller from what its host has already. */
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

/** Stands for a strategy such as `passport-local`. */
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

export function createBetterAuthApp() {
  const auth = betterAuth({
    baseURL: 'http://localhost',
    secret: 'a secret of this test, with more than 32 characters',
    database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
    emailAndPassword: { enabled: true },
    user: { additionalFields: { teamId: { type: 'string', required: true } } },
    telemetry: { enabled: false },
  })
  return express()
    .all('/api/auth/*path', toNodeHandler(auth))
    .use(
      domainsRouter({
        store: createStore(),
        async authenticate({ raw }) {
          const session = await auth.api.getSession({ headers: fromNodeHeaders(raw.headers) })
          if (!session) throw new ApiError('unauthorized', 'Log in first.')
          return ofTeam(session.user.teamId)
        },
      }),
    )
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
