/** Builds, starts and calls the recipe of docs/frameworks.md. Run by `npm run test:hosts`. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { generateApiKey } from 'domain-registration'

const folder = join(import.meta.dirname, 'sveltekit')
const run = (env, ...parameters) => spawn(process.execPath, parameters, { cwd: folder, env })

after(() => {
  for (const made of ['build', '.svelte-kit']) rmSync(join(folder, made), { recursive: true, force: true })
})

test('SvelteKit builds without secrets, and its server calls the handler', async () => {
  // Passes only PATH to the build, because a build has no secrets.
  const build = run({ PATH: process.env.PATH }, '../node_modules/vite/bin/vite.js', 'build')
  const [printed] = await Promise.all([text(build.stderr), build.stdout.resume(), once(build, 'exit')])
  assert.equal(build.exitCode, 0, printed)

  /** A monitor that accepts everything. */
  const monitor = createServer((request, response) => request.resume().on('end', () => response.writeHead(204).end()))
  await once(monitor.listen(0, '127.0.0.1'), 'listening')
  after(() => monitor.close())
  const { key } = await generateApiKey({ type: 'team', id: '1' })
  const server = run(
    {
      HOST: '127.0.0.1',
      PORT: '0',
      BODY_SIZE_LIMIT: '1000',
      ORIGIN: 'http://localhost',
      API_KEY: key,
      MONITOR_URL: `http://127.0.0.1:${monitor.address().port}/`,
      WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
    },
    'build/index.js',
  )
  after(() => server.kill())
  server.stderr.pipe(process.stderr)
  const ended = once(server, 'exit').then(() => assert.fail('The server ended'))
  const [listening] = await Promise.race([once(server.stdout.setEncoding('utf8'), 'data'), ended])
  ended.catch(() => {})
  const [origin] = /http:\S+/.exec(listening) ?? []

  async function ask(authorization, body = '{"domains":["a.example.com"]}', path = '/v1/domains') {
    const headers = { 'Content-Type': 'application/json', Authorization: authorization }
    const response = await fetch(origin + path, {
      method: 'POST',
      headers,
      body,
      duplex: 'half',
    })
    return { status: response.status, answer: await response.json() }
  }
  const { status, answer } = await ask(`Bearer ${key}`)
  assert.deepEqual([status, answer.data?.totals], [200, { created: 1, existing: 0, invalid: 0 }])
  assert.equal((await ask(`Bearer ${key}`, undefined, '/v1/domains/')).status, 200)
  assert.equal((await ask('Bearer unknown')).status, 401)
  // SvelteKit's own limit ends the body.
  const large = 'x'.repeat(2000)
  for (const body of [large, new Blob([large]).stream()]) {
    const { status, answer } = await ask(`Bearer ${key}`, body)
    assert.deepEqual([status, answer.error], [413, 'payload_too_large'])
  }
})
