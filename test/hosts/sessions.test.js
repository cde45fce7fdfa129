/** Tests sessions instead of API keys, with popular session libraries. Run by `npm run test:hosts`. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { createBetterAuthApp, createJwtApp, createPassportApp } from './sessions.js'

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
