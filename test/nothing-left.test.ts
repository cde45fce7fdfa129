import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { isLong } from './counts.ts'
import { findAlive } from './postgres/process-table.ts'

const program = fileURLToPath(new URL('nothing-left.js', import.meta.url))
const vitest = fileURLToPath(new URL('../node_modules/vitest/vitest.mjs', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'nothing-left-'))
const notes = join(directory, 'notes')
const write = (name: string, text: string) => writeFileSync(join(directory, name), text)

beforeAll(() => {
  const scripts = {
    sound: 'node -e 0',
    leaving: 'node leaving.cjs',
    endless: 'node staying.cjs',
  }
  write('package.json', JSON.stringify({ scripts }))
  write('endless.test.js', `import './leaving.cjs'\ntest('endless', () => new Promise(() => {}))`)
  const config = { test: { include: ['*.test.js'], globals: true, globalSetup: [program] } }
  write('vitest.config.js', `export default ${JSON.stringify(config)}`)
  /** A program that leaves a file, writes down its process ID and its temporary folder, and does not end. */
  write(
    'staying.cjs',
    `setInterval(() => {}, 1000)
    require('fs').writeFileSync(require('os').tmpdir() + '/forgotten', '')
    require('fs').writeFileSync(${JSON.stringify(notes)}, process.pid + ' ' + require('os').tmpdir())`,
  )
  write(
    'leaving.cjs',
    `require('child_process')
      .spawn(process.execPath, [${JSON.stringify(join(directory, 'staying.cjs'))}], { detached: true, stdio: 'ignore' })
      .unref()
    while (!require('fs').existsSync(${JSON.stringify(notes)}));`,
  )
})
beforeEach(() => rmSync(notes, { force: true }))
afterAll(() => rmSync(directory, { recursive: true }))

function start(...parameters: string[]) {
  // This test may itself be part of a run. The program gets its own temporary folder, because otherwise it would take
  // part in that run.
  const env = { ...process.env, TMPDIR: directory }
  const child = spawn(process.execPath, parameters, { cwd: directory, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let printed = ''
  child.stderr.setEncoding('utf8').on('data', text => {
    printed += text
  })
  return { child, ended: once(child, 'close').then(([status]) => ({ status, printed })) }
}

const readNotes = () =>
  vi.waitFor(() => {
    const [, pid, folder] = /^(\d+) (.+)$/.exec(readFileSync(notes, 'utf8')) ?? []
    if (!pid || !folder) throw new Error('The program has not written its process ID yet')
    return { pid: Number(pid), folder }
  }, 10_000)

test('a run passes if it leaves nothing behind', async () => {
  expect(await start(program, 'sound', 'sound').ended).toMatchObject({
    status: 0,
    printed: expect.stringContaining('Nothing is left running, and no file left behind.\n'),
  })
})

test('a run fails if it leaves a process and a file behind; it reports both, and removes them', async () => {
  const { status, printed } = await start(program, 'sound', 'leaving').ended
  const { pid, folder } = await readNotes()
  expect([status, printed]).toEqual([1, expect.stringContaining(`Left running: ${pid} `)])
  expect(printed).toContain(`Left behind: ${join(folder, 'forgotten')}\n`)
  expect([await findAlive([pid]), existsSync(folder)]).toEqual([[], false])
})

test('a run that receives SIGTERM fails, and leaves nothing behind', async () => {
  const { child, ended } = start(program, 'endless')
  const { pid, folder } = await readNotes()
  child.kill('SIGTERM')
  expect((await ended).status).toBe(1)
  expect([await findAlive([pid]), existsSync(folder)]).toEqual([[], false])
})

test.runIf(isLong)('a run that is killed leaves nothing behind (skipped in a short run)', async () => {
  const { child, ended } = start(vitest, 'run')
  const { pid, folder } = await readNotes()
  child.kill('SIGKILL')
  await ended
  await vi.waitFor(async () => expect([await findAlive([pid]), existsSync(folder)]).toEqual([[], false]), 10_000)
})
