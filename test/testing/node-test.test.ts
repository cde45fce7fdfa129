import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { domainStoreSuite, managedStoreFeatures } from '../../src/testing/index.ts'
import { createNaiveStore } from './naive-store.ts'

const run = promisify(execFile)
const root = fileURLToPath(new URL('../..', import.meta.url))

test('every case of the suite runs under node:test', async () => {
  const { length } = domainStoreSuite({
    createStore: setup => createNaiveStore(setup),
    features: managedStoreFeatures,
  })
  // Node's test runner sets this variable for its children, which then report in a different format.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env
  const { stdout } = await run(
    process.execPath,
    ['--import', 'tsx', '--test', '--test-reporter', 'tap', 'test/testing/node-test.ts'],
    { cwd: root, env },
  )
  expect(length).toBeGreaterThan(70)
  expect(stdout).toContain(`\n# pass ${length}\n# fail 0\n`)
  expect(stdout).toContain('\n# skipped 0\n# todo 0\n')
})
