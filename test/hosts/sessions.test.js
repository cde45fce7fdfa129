/**
 * Tests sessions instead of API keys: in each program, the application's own session identifies the caller. Run by
 * `npm run test:hosts`.
 */
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
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

function createPassportApp() {
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
function createBetterAuthApp() {
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

function createJwtApp() {
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

const json = { 'Content-Type': 'application/json' }

async function serve(app, use) {
  const server = app.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await use(`http://127.0.0.1:${server.address().port}`)
  } finally {
    server.closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
}

async function register(url, headers) {
  const body = '{"domains":["www.example.com"]}'
  const response = await fetch(`${url}/v1/domains`, { method: 'POST', headers: { ...json, ...headers }, body })
  const answer = await response.json()
  return { status: response.status, says: answer.data?.totals ?? answer }
}

const registered = { status: 200, says: { created: 1, existing: 0, invalid: 0 } }
const refused = { status: 401, says: { error: 'unauthorized', message: 'Log in first.' } }

test('with Passport, the user of the request is the caller', async () => {
  await serve(createPassportApp(), async url => {
    assert.deepEqual(await register(url, { 'X-Ticket': 'forged' }), refused)
    assert.deepEqual(await register(url, { 'X-Ticket': 'valid' }), registered)
  })
})

test('with better-auth, the user of a session cookie or API key is the caller, as a team with a UUID', async () => {
  await serve(createBetterAuthApp(), async url => {
    async function post(path, body, headers) {
      const origin = { Origin: 'http://localhost' }
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { ...json, ...origin, ...headers },
        body: JSON.stringify(body),
      })
      return { status: response.status, cookies: response.headers.getSetCookie(), answer: await response.json() }
    }
    const ada = { name: 'Ada', email: 'ada@example.com', password: 'a long password' }

    assert.deepEqual(await register(url, { Cookie: 'better-auth.session_token=forged' }), refused)
    const thief = await post('/api/auth/sign-up/email', { ...ada, teamId: 'of somebody else' })
    assert.equal(thief.status, 400)
    const { status, cookies } = await post('/api/auth/sign-up/email', ada)
    assert.equal(status, 200)
    const [cookie] = cookies.map(field => field.split(';')[0])
    assert.deepEqual(await register(url, { Cookie: cookie }), registered)

    const { answer } = await post('/api/auth/api-key/create', {}, { Cookie: cookie })
    const found = { status: 200, says: { created: 0, existing: 1, invalid: 0 } }
    assert.deepEqual(await register(url, { 'X-Api-Key': answer.key }), found)
    assert.deepEqual(await register(url, { 'X-Api-Key': answer.key }), found)
    assert.equal((await register(url, { 'X-Api-Key': answer.key })).status, 429)
    assert.deepEqual(await register(url, { 'X-Api-Key': 'forged' }), refused)
    assert.deepEqual(await register(url, { 'X-Api-Key': 'x'.repeat(64) }), refused)
  })
})

test('with @fastify/jwt, the team in the verified token is the caller', async () => {
  const app = createJwtApp()
  const origin = await app.listen({ port: 0, host: '127.0.0.1' })
  try {
    assert.deepEqual(await register(origin, { Authorization: 'Bearer forged' }), refused)
    const token = app.jwt.sign({ teamId: '1' })
    assert.deepEqual(await register(origin, { Authorization: `Bearer ${token}` }), registered)
  } finally {
    await app.close()
  }
})
