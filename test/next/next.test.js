/** Builds, starts and calls the Next.js recipe of docs/frameworks.md, both as a route and in the edge runtime. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { generateApiKey } from 'domain-registration'

const { key } = await generateApiKey({ type: 'team', id: '1' })

/** A monitor that accepts everything. */
const monitor = createServer((request, response) => request.resume().on('end', () => response.writeHead(204).end()))
await once(monitor.listen(0, '127.0.0.1'), 'listening')

const bare = { ...process.env, NEXT_TELEMETRY_DISABLED: '1' }
const env = {
  ...bare,
  API_KEY: key,
  MONITOR_URL: `http://127.0.0.1:${monitor.address().port}/`,
  WEBHOOK_SECRET: `whsec_${randomBytes(32).toString('base64')}`,
}
const start = (env, ...parameters) =>
  spawn(process.execPath, ['node_modules/next/dist/bin/next', ...parameters], {
    cwd: import.meta.dirname,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  })

let server
let origin

before(async () => {
  // The build gets no settings, because a build has no secrets.
  const build = start(bare, 'build')
  build.stdout.pipe(process.stderr)
  const [code] = await once(build, 'exit')
  assert.equal(code, 0)

  server = start(env, 'start', '--port', '0', '--hostname', '127.0.0.1')
  let printed = ''
  for await (const text of server.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    printed += text
    origin = /http:\/\/127\.0\.0\.1:\d+/.exec(printed)?.[0]
    if (origin && /Ready/.test(printed)) break
  }
  server.stdout.resume()
  assert.ok(origin, printed)
})

after(async () => {
  monitor.close()
  if (!server || server.exitCode !== null) return
  const exit = once(server, 'exit')
  server.kill()
  await exit
})

for (const [name, path] of [
  ['a route handler', '/v1/domains'],
  ['a route handler on the edge runtime', '/edge/v1/domains'],
]) {
  test(`Next.js calls the handler as ${name}`, async () => {
    const ask = async authorization => {
      const headers = { 'Content-Type': 'application/json', Authorization: authorization }
      const body = '{"domains":["www.example.com"]}'
      const response = await fetch(origin + path, { method: 'POST', headers, body })
      return { status: response.status, answer: await response.json() }
    }
    const { status, answer } = await ask(`Bearer ${key}`)
    assert.deepEqual([status, answer.data?.totals], [200, { created: 1, existing: 0, invalid: 0 }])
    assert.equal((await ask('Bearer unknown')).status, 401)
  })
}
