/**
 * Tests sessions instead of API keys: in each program, the application's own session identifies the caller. Run by
 * `npm run test:hosts`.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { after, test } from 'node:test'
import fastifyJwt from '@fastify/jwt'
import { ApiError, createMemoryStore } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import express from 'express'
import fastify from 'fastify'
import passport from 'passport'
import { startExample } from './start-example.js'

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
  const app = express()
  app.use('/v1/domains', authenticator.authenticate('ticket', { session: false }))
  app.use(
    domainsRouter({
      store: createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] }),
      authenticate({ raw }) {
        if (!raw.user) throw new ApiError('unauthorized', 'Log in first.')
        return { type: 'team', teamId: raw.user.teamId, scopes: ['domains:create'] }
      },
    }),
  )
  return app.get('/', (request, response) => response.json(request.user ?? null))
}

const json = { 'Content-Type': 'application/json' }

async function register(url, headers) {
  const body = '{"domains":["www.example.com"]}'
  const response = await fetch(`${url}/v1/domains`, { method: 'POST', headers: { ...json, ...headers }, body })
  const answer = await response.json()
  return { status: response.status, says: answer.data?.totals ?? answer }
}

const registered = { status: 200, says: { created: 1, existing: 0, invalid: 0 } }
const refused = { status: 401, says: { error: 'unauthorized', message: 'Log in first.' } }

test('with Passport, the user of the request is the caller', async () => {
  const server = createPassportApp().listen(0, '127.0.0.1')
  after(() => server.close().closeAllConnections())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}`
  assert.deepEqual(await register(url, { 'X-Ticket': 'forged' }), refused)
  assert.deepEqual(await register(url, { 'X-Ticket': 'valid' }), registered)
  // Passport does not guard the routes after the router.
  assert.equal(await (await fetch(url, { headers: { 'X-Ticket': 'valid' } })).json(), null)
})

test('with better-auth, the user of a session cookie or API key is the caller, as a team with a UUID', async () => {
  const url = await startExample('callers/better-auth.mjs', { 'maxRequests: 1000': 'maxRequests: 2' })
  async function post(path, body, headers) {
    const sent = { ...json, Origin: 'http://localhost:3000', ...headers }
    const response = await fetch(url + path, { method: 'POST', headers: sent, body: JSON.stringify(body) })
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

test('with @fastify/jwt, the team in the verified token is the caller', async () => {
  const secret = 'a secret of this test'
  const url = await startExample('callers/fastify-jwt.ts', {}, { JWT_SECRET: secret })
  assert.deepEqual(await register(url, { Authorization: 'Bearer forged' }), refused)
  const issuer = fastify().register(fastifyJwt, { secret })
  await issuer.ready()
  const token = issuer.jwt.sign({ teamId: '1' })
  assert.deepEqual(await register(url, { Authorization: `Bearer ${token}` }), registered)
})
