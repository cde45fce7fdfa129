import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { findAlive } from './postgres/process-table.ts'

const program = fileURLToPath(new URL('nothing-left.js', import.meta.url))
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'nothing-left-'))
afterAll(() => rmSync(directory, { recursive: true }))

const notes = join(directory, 'notes')
beforeEach(() => rmSync(notes, { force: true }))

/** Stays until it is ended, and notes its ID and its temporary folder. */
const staying = `setInterval(() => {}, 1000)
  require('fs').writeFileSync(${JSON.stringify(notes)}, process.pid + ' ' + require('os').tmpdir())`
const stubborn = `process.on('SIGTERM', () => {}); ${staying}`
const readNotes = () =>
  vi.waitFor(() => {
    const [, pid, folder] = /^(\d+) (.+)$/.exec(readFileSync(notes, 'utf8')) ?? []
    if (!pid || !folder) throw new Error('Nothing is noted')
    return { pid: Number(pid), folder }
  }, 10_000)

/**
 * Starts a process that its parent does not wait for, then ends when the process has noted what it notes, or not at
 * all.
 */
const leave = (script: string, end: 'ends' | 'stays', options = '') => `
  const options = { detached: true, stdio: 'ignore', ${options} }
  require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(script)}], options).unref()
  const timer = setInterval(() => {
    if (${end === 'ends'} && require('fs').existsSync(${JSON.stringify(notes)})) clearInterval(timer)
  }, 5)`

function start(...parameters: string[]): { child: ChildProcess; ended: Promise<{ status: number; printed: string }> } {
  // Not within the folder of the run that this test belongs to.
  const env = { ...process.env, TMPDIR: directory }
  const child = spawn(process.execPath, parameters, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', text => {
      printed += text
    })
  }
  return { child, ended: once(child, 'close').then(([status]) => ({ status, printed })) }
}
const run = (script: string) => start(program, process.execPath, '-e', script)

describe('a command', () => {
  test.each([0, 3])('that leaves nothing ends with its own status, %d', async status => {
    const { ended } = run(`process.exit(${status})`)
    expect(await ended).toEqual({ status, printed: 'Nothing is left running, and no file left behind.\n' })
  })

  test('that leaves a process fails, names the process and ends it', async () => {
    const { ended } = run(leave(stubborn, 'ends'))
    const { status, printed } = await ended
    const { pid, folder } = await readNotes()
    expect([status, printed]).toEqual([1, expect.stringContaining(`Left running: ${pid} `)])
    expect(await findAlive([pid])).toEqual([])
    expect(existsSync(folder)).toBe(false)
  })

  test('is known by where its processes work when they have no environment', async () => {
    const { ended } = run(leave(staying, 'ends', `env: {}, cwd: require('os').tmpdir()`))
    const { status } = await ended
    const { pid } = await readNotes()
    expect([status, await findAlive([pid])]).toEqual([1, []])
  })

  test('that leaves a file fails and names the file', async () => {
    const { ended } = run(`require('fs').writeFileSync(require('os').tmpdir() + '/forgotten', '')`)
    expect(await ended).toEqual({ status: 1, printed: expect.stringMatching(/^Left behind: .+\/forgotten\n$/) })
  })

  test.each(['SIGINT', 'SIGTERM'] as const)('that is interrupted by %s leaves nothing', async name => {
    const { child, ended } = run(leave(staying, 'stays'))
    const { pid, folder } = await readNotes()
    child.kill(name)
    expect((await ended).status).toBe(1)
    expect([await findAlive([pid]), existsSync(folder)]).toEqual([[], false])
  })
})

describe('Vitest alone', () => {
  test.each(['SIGINT', 'SIGTERM', 'SIGKILL'] as const)('leaves nothing, also when %s ends it', async name => {
    const config = { test: { include: ['*.test.js'], globals: true, globalSetup: [program] } }
    writeFileSync(join(directory, 'vitest.config.js'), `export default ${JSON.stringify(config)}`)
    writeFileSync(
      join(directory, 'endless.test.js'),
      `import { createRequire } from 'node:module'
      const require = createRequire(import.meta.url)
      test('endless', async () => { ${leave(staying, 'stays')}; await new Promise(() => {}) })`,
    )
    const { child, ended } = start(vitest, 'run', '--root', directory)
    const { pid, folder } = await readNotes()
    child.kill(name)
    await ended
    expect([await findAlive([pid]), existsSync(folder)]).toEqual([[], false])
  })
})
