/** Sessions of the host's own in place of API keys, with what hosts use for them. Run by `npm run test:hosts`. */
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

test('Passport: the user of the request is the caller', async () => {
  await serve(createPassportApp(), async url => {
    assert.deepEqual(await register(url, { 'X-Ticket': 'forged' }), refused)
    assert.deepEqual(await register(url, { 'X-Ticket': 'valid' }), registered)
  })
})

test('better-auth: the session that its cookie names is the caller', async () => {
  await serve(createBetterAuthApp(), async url => {
    assert.deepEqual(await register(url, { Cookie: 'better-auth.session_token=forged' }), refused)
    const signedUp = await fetch(`${url}/api/auth/sign-up/email`, {
      method: 'POST',
      headers: { ...json, Origin: 'http://localhost' },
      body: JSON.stringify({ name: 'Ada', email: 'ada@example.com', password: 'a long password', teamId: '1' }),
    })
    assert.equal(signedUp.status, 200, await signedUp.text())
    const [cookie] = signedUp.headers.getSetCookie().map(field => field.split(';')[0])
    assert.deepEqual(await register(url, { Cookie: cookie }), registered)
  })
})

test('@fastify/jwt: the token that it has verified is the caller', async () => {
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
