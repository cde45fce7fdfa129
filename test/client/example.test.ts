import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import express from 'express'
import { expect, onTestFinished, test } from 'vitest'
import { domainsRouter } from '../../src/http/express.ts'
import { compile } from '../compile.ts'
import { createKeys, createStore } from '../fixtures.ts'
import { listen } from '../listen.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('examples/register-file.ts registers the names in a file, and shows progress and invalid names', async () => {
  const { keys, issue } = createKeys()
  const { origin, close } = await listen(express().use(domainsRouter({ store: createStore(), keys })))
  onTestFinished(close)
  const directory = await mkdtemp(join(tmpdir(), 'names-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const file = join(directory, 'names.txt')
  const names = Array.from({ length: 120 }, (_, index) => `n${index}.com`)
  await writeFile(file, [...names, '', 'localhost', 'n1.com'].join('\r\n'))
  const run = async (apiKey: string) => {
    const parameters = [await compile('examples/register-file.ts'), `${origin}/v1/domains`, file]
    return promisify(execFile)(process.execPath, parameters, { cwd: root, env: { ...process.env, API_KEY: apiKey } })
  }
  const { stdout, stderr } = await run(await issue('team', '1'))
  expect(stdout).toMatch(/^120 created, 1 existing, 1 invalid\nlocalhost\tinternal_domain\t"localhost" is reserved/)
  expect(stderr).toMatch(/^█+░+ 100 of 122\n█{30} 122 of 122\n$/)
  await expect(run('svc_team_1_00')).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Gave up after 0 of 122 names: The bearer token is missing or invalid.'),
  })
})

test('examples/register-csv.ts registers the names in one column, and shows those that are invalid', async () => {
  const { keys, issue } = createKeys()
  const store = createStore()
  const { origin, close } = await listen(express().use(domainsRouter({ store, keys })))
  onTestFinished(close)
  const directory = await mkdtemp(join(tmpdir(), 'names-'))
  onTestFinished(() => rm(directory, { recursive: true }))
  const file = join(directory, 'customers.csv')
  await writeFile(file, '"customer","domain","since"\n"Ann","www.example.com",2024\nBob,localhost,2025\n')
  const env = { ...process.env, DOMAINS_URL: `${origin}/v1/domains`, API_KEY: await issue('team', '1') }
  const parameters = [await compile('examples/register-csv.ts'), file]
  const { stdout } = await promisify(execFile)(process.execPath, parameters, { cwd: root, env })
  expect(stdout).toBe('localhost "localhost" is reserved and not in the public DNS.\n')
  expect((await store.list({})).map(({ domain }) => domain)).toEqual(['www.example.com'])
})
