import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createMemoryStore } from '../../src/memory/memory-store.ts'
import { domainStoreSuite, managedStoreFeatures } from '../../src/testing/index.ts'
import { startDurableObject } from './durable-object.ts'
import { bun, deno, nodes, why, workerd } from './runtimes.ts'

const here = fileURLToPath(new URL('.', import.meta.url))

const root = fileURLToPath(new URL('../..', import.meta.url))
const vitest = `${root}node_modules/vitest/vitest.mjs`
const tsc = fileURLToPath(import.meta.resolve('typescript/lib/tsc.js'))

const allCases = domainStoreSuite({
  createStore: createMemoryStore,
  features: [...managedStoreFeatures, 'import', 'transfer'],
}).map(({ id }) => ({ id, failure: null }))

describe('the option "database" accepts the types of each runtime’s SQLite:', () => {
  const options = '--noEmit --strict --exactOptionalPropertyTypes --skipLibCheck --module nodenext --target es2022'
  test.each([
    ['node.ts', 'node'],
    ['better-sqlite3.ts', 'better-sqlite3'],
    ['bun.ts', 'bun-types'],
    ['bun-sql.ts', 'bun-types'],
    ['durable-object.ts', '@cloudflare/workers-types'],
  ])('%s', async (file, types) => {
    const parameters = [tsc, '--ignoreConfig', ...options.split(' '), '--types', types, `types/${file}`]
    const compiled = promisify(execFile)(process.execPath, parameters, { cwd: here })
    await expect(compiled.catch(({ stdout }) => stdout)).resolves.toMatchObject({ stdout: '' })
  })
})

describe('every case of the suite passes with the SQLite of', () => {
  // In Node, the tests in test/sqlite run the suite; see below.
  for (const { name, program, run } of [bun, deno]) {
    test.skipIf(!program)(name + (program ? '' : why), async () => {
      const { stdout } = await promisify(execFile)(program as string, [...run, 'sqlite/run-suite.js'], { cwd: here })
      expect(JSON.parse(stdout)).toEqual(allCases)
    })
  }
})

describe('all tests in test/sqlite pass with the SQLite of', () => {
  // Node 20 has no SQLite, so it is left out.
  for (const { name, program } of nodes.slice(1)) {
    test.skipIf(!program)(name + (program ? '' : why), { timeout: 120_000 }, async () => {
      const parameters = [vitest, 'run', '--reporter=json', 'test/sqlite']
      const running = promisify(execFile)(program as string, parameters, { cwd: root, maxBuffer: 2 ** 26 })
      // A run with failed tests has written its results too.
      const { stdout } = await running.catch(error => (error.stdout.includes('{') ? error : Promise.reject(error)))
      const { success, testResults, numPassedTests, numPendingTests } = JSON.parse(stdout.slice(stdout.indexOf('{')))
      type Result = { assertionResults: { status: string; fullName: string; failureMessages: string[] }[] }
      const results = (testResults as Result[]).flatMap(({ assertionResults }) => assertionResults)
      expect(results.filter(({ status }) => status === 'failed')).toEqual([])
      expect(numPassedTests).toBeGreaterThan(allCases.length)
      expect([success, numPendingTests]).toEqual([true, 0])
    })
  }
})

describe.skipIf(!workerd.program)(`in a Durable Object${workerd.program ? '' : why}`, () => {
  let started: Awaited<ReturnType<typeof startDurableObject>> | undefined
  beforeAll(async () => {
    started = await startDurableObject('durable-object.js')
  })
  afterAll(() => started?.stop())

  test('every case of the suite passes', async () => {
    const response = await fetch(`${started?.origin}/suite`)
    expect(response.ok ? await response.json() : await response.text()).toEqual(allCases)
  })

  test('keys are found', async () => {
    expect(await (await fetch(`${started?.origin}/keys`)).json()).toMatchObject({
      ownerId: '1',
      scopes: ['domains:create'],
    })
  })
})
