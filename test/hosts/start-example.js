import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { after } from 'node:test'

/** Tells the parent the port on which a server listens, because an example does not print it. */
const tellPort = `import { Server } from 'node:net'
const { listen } = Server.prototype
Server.prototype.listen = function (...parameters) {
  this.once('listening', () => process.send(this.address().port))
  return listen.apply(this, parameters)
}`

/**
 * Starts a server of examples/, in a copy in this folder, whose packages it imports. It ends after the tests.
 *
 * @param replacements What stands in the example, and what stands in its place in the copy.
 * @returns The origin of the server.
 */
export async function startExample(example, replacements = {}, env = {}) {
  const folder = join(import.meta.dirname, `.example-${basename(example)}`)
  after(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(folder, { recursive: true })
  let program = readFileSync(join(import.meta.dirname, '../../examples', example), 'utf8')
  for (const [text, replacement] of Object.entries(replacements)) {
    assert.ok(program.includes(text), `${example} has ${text}`)
    program = program.replace(text, () => replacement)
  }
  const file = join(folder, basename(example))
  writeFileSync(file, program)
  const child = fork(file, {
    execArgv: ['--import', 'tsx', '--import', `data:text/javascript,${encodeURIComponent(tellPort)}`],
    env: { ...process.env, ...env, PORT: '0' },
  })
  const ended = once(child, 'exit')
  after(async () => {
    child.kill()
    await ended
  })
  const [port] = await Promise.race([once(child, 'message'), ended.then(() => assert.fail(`${example} ended`))])
  return `http://127.0.0.1:${port}`
}
