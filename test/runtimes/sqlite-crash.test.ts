import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, describe, expect, test } from 'vitest'
import { bun, nodes, type Runtime, why } from './runtimes.ts'

const here = fileURLToPath(new URL('.', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'sqlite-crash-'))
const running = new Set<ChildProcess>()
afterAll(() => {
  for (const each of running) each.kill('SIGKILL')
  rmSync(folder, { recursive: true })
})

interface Message {
  readonly call?: string
  readonly domains?: readonly string[]
  readonly ids?: readonly string[]
  readonly error?: string
}

const CALLERS = 3

describe('if callers that share a file are killed, no acknowledged call is lost and none is saved in part:', () => {
  const kills = [
    [nodes[1], 50],
    [nodes[3], 10],
    [bun, 10],
  ] as const
  for (const [runtime, count] of kills) {
    const { name, program } = runtime as Runtime
    const title = `${count} kills in ${name}${program ? '' : why}`
    test.skipIf(!program)(title, { timeout: 120_000 }, () => killCallers(runtime as Runtime, count))
  }
})

async function killCallers(runtime: Runtime, kills: number): Promise<void> {
  const file = join(folder, `${runtime.name}.db`)
  const begun = new Map<string, readonly string[]>()
  const answered = new Map<string, readonly string[]>()
  const errors: string[] = []
  let started = 0

  function start() {
    const parameters = [...runtime.run, 'sqlite/caller.js', file, String(started++)]
    const caller = spawn(runtime.program as string, parameters, { cwd: here, stdio: ['ignore', 'pipe', 'inherit'] })
    running.add(caller)
    // A caller runs until it is killed.
    const ended = once(caller, 'exit').then(([code]) => {
      if (code !== null) throw new Error(`A caller ended with ${code}`)
    })
    ended.catch(() => {})
    const lines = createInterface(caller.stdout as Readable)
    let tellAnswer: () => void
    const answeredOnce = new Promise<void>(resolve => {
      tellAnswer = resolve
    })
    lines.on('line', line => {
      // The last line of output may be incomplete.
      if (!line.endsWith('}')) return
      const { call = '', domains, ids, error }: Message = JSON.parse(line)
      if (domains) begun.set(call, domains)
      if (ids) {
        answered.set(call, ids)
        tellAnswer()
      }
      if (error) errors.push(error)
    })
    return { caller, lines, answeredOnce: Promise.race([answeredOnce, ended]) }
  }

  let callers = Array.from({ length: CALLERS }, start)
  for (let kill = 0; kill < kills; kill += 1) {
    const [{ caller, lines, answeredOnce }] = callers as [ReturnType<typeof start>]
    await answeredOnce
    await new Promise(resolve => setTimeout(resolve, Math.random() * 50))
    caller.kill('SIGKILL')
    await once(lines, 'close')
    running.delete(caller)
    callers = [...callers.slice(1), start()]
  }
  for (const { caller, lines } of callers) {
    caller.kill('SIGKILL')
    await once(lines, 'close')
  }

  const { saved, integrity } = await readFile(runtime, file)
  expect(integrity).toBe('ok')
  expect(errors).toEqual([])
  expect(answered.size).toBeGreaterThanOrEqual(kills)
  for (const [call, ids] of answered) {
    const domains = begun.get(call) ?? []
    expect(domains.map(domain => saved.get(domain))).toEqual(ids)
  }
  for (const [call, domains] of begun) {
    const count = domains.filter(domain => saved.has(domain)).length
    expect([0, domains.length], `how much of call ${call} is saved`).toContain(count)
  }
  const lost = [...begun.keys()].filter(call => !answered.has(call))
  console.log(`${runtime.name}: ${kills} kills, ${answered.size} calls answered, ${lost.length} cut off`)
}

async function readFile({ program, run }: Runtime, file: string) {
  const { stdout } = await promisify(execFile)(program as string, [...run, 'sqlite/read.js', file], {
    cwd: here,
    maxBuffer: 2 ** 30,
  })
  const { rows, integrity } = JSON.parse(stdout)
  return { saved: new Map<string, string>(rows), integrity }
}
