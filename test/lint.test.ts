import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Lints one import as if it stood in a file of ours. */
function lint(file: string, specifier: string): string {
  const project = mkdtempSync(join(tmpdir(), 'lint-'))
  try {
    copyFileSync(join(root, 'biome.json'), join(project, 'biome.json'))
    mkdirSync(join(project, dirname(file)), { recursive: true })
    writeFileSync(join(project, file), `import { x } from '${specifier}'\n\nexport const y = x\n`)
    const { stdout, stderr } = spawnSync(join(root, 'node_modules/.bin/biome'), ['lint', file], {
      cwd: project,
      encoding: 'utf8',
    })
    expect(stdout + stderr).toContain('Checked 1 file')
    return stdout + stderr
  } finally {
    rmSync(project, { recursive: true })
  }
}

test.each([
  ['src/register-domains.ts', 'node:crypto', 'noNodejsModules'],
  ['src/memory/memory-store.ts', 'node:fs', 'noNodejsModules'],
  ['src/http/handler.ts', 'node:http', 'noNodejsModules'],
  ['src/http/handler.ts', 'express', 'noRestrictedImports'],
  ['src/http/fetch.ts', 'node:http', 'noNodejsModules'],
  ['src/http/fetch.ts', 'hono', 'noRestrictedImports'],
  ['src/registry/store.ts', 'pg', 'noRestrictedImports'],
  ['src/postgres/connection.ts', 'pg', 'noRestrictedImports'],
  ['src/postgres/connection.ts', '@electric-sql/pglite', 'noRestrictedImports'],
  ['src/postgres/store.ts', 'node:crypto', 'noNodejsModules'],
  ['src/hostname/classify.ts', 'tldts', 'noRestrictedImports'],
  ['src/hostname/classify.ts', 'ipaddr.js', 'noRestrictedImports'],
  ['src/hostname/classify.ts', 'tr46', 'noRestrictedImports'],
])('in %s the lint forbids to import %s', (file, specifier, rule) => {
  expect(lint(file, specifier)).toContain(rule)
})

test.each([
  ['src/hostname/public-suffix.ts', 'tldts'],
  ['src/hostname/address.ts', 'ipaddr.js'],
  ['src/hostname/idna.ts', 'tr46'],
  ['src/wire/request.ts', 'zod'],
  ['src/http/express.ts', 'express'],
  ['src/http/fastify.ts', 'fastify'],
])('%s may import %s', (file, specifier) => {
  expect(lint(file, specifier)).not.toMatch(/noRestrictedImports|noNodejsModules/)
})
