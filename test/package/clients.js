/**
 * Generates clients from the OpenAPI document of the built package by openapi-typescript, orval and hey-api, compiles
 * them, and calls a server with each.
 */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createClient } from '@hey-api/openapi-ts'
import express from 'express'
import openapiTypescript, { astToString } from 'openapi-typescript'
import { generate } from 'orval'
import { domainsRouter } from '../../dist/express.js'
import { createMemoryKeyStore, createMemoryStore, generateApiKey } from '../../dist/index.js'
import { openapi } from '../../dist/openapi.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const run = async (file, parameters) => {
  const tool = join(root, 'node_modules', file)
  const { stdout } = await promisify(execFile)(process.execPath, [tool, ...parameters]).catch(error => {
    throw new Error(error.stdout + error.stderr)
  })
  return stdout
}

const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
const keys = createMemoryKeyStore()
keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:create'] })
const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const server = express().use(domainsRouter({ store, keys })).listen(0, '127.0.0.1')
const folder = mkdtempSync(join(tmpdir(), 'domain-registration-clients-'))
try {
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}`
  const input = join(folder, 'openapi.json')
  const document = openapi()
  writeFileSync(input, JSON.stringify(document))
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')

  writeFileSync(join(folder, 'openapi-typescript.ts'), astToString(await openapiTypescript(document)))
  await generate({ input, output: { target: join(folder, 'orval.ts'), client: 'fetch', baseUrl: url } })
  await createClient({ input, output: join(folder, 'hey-api'), logs: { level: 'silent' } })

  const program = join(folder, 'program.ts')
  cpSync(new URL('client-program.ts', import.meta.url), program)
  await run('typescript/bin/tsc', [
    ...[
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--allowImportingTsExtensions',
      '--module',
      'preserve',
    ],
    ...['--target', 'es2022', '--lib', 'es2023,dom,dom.iterable'],
    ...['--types', 'node', '--typeRoots', join(root, 'node_modules/@types'), program],
  ])
  assert.deepEqual(JSON.parse(await run('tsx/dist/cli.mjs', [program, url, key])), {
    openapiTypescript: ['created', 'internal_domain'],
    orval: ['existing', 'internal_domain'],
    heyApi: ['existing', 'internal_domain'],
    refused: 'unauthorized',
  })
  console.log('Clients: openapi-typescript, orval and hey-api call the server')
} finally {
  server.close()
  server.closeAllConnections()
  rmSync(folder, { recursive: true })
}
