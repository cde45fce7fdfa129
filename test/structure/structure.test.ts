import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { findBreaches, findUnimported, findUnused } from './breaches.ts'
import { entries } from './entries.ts'
import { exportedOnly } from './rules.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The project's own files. Files from other projects, such as test vectors, may have longer lines. */
function readTree(): Map<string, string> {
  const files = ['src', 'test', 'examples', 'bench'].flatMap(listFiles).filter(path => /\.[jt]s$/.test(path))
  return new Map(files.map(path => [path, readFileSync(`${root}/${path}`, 'utf8')]))
}

/** Skips build output and `node_modules`, where a link to this package would make the search endless. */
function listFiles(folder: string): string[] {
  return readdirSync(`${root}/${folder}`, { withFileTypes: true }).flatMap(entry => {
    const path = `${folder}/${entry.name}`
    if (!entry.isDirectory()) return [path]
    return /^(?:node_modules|\..*)$/.test(entry.name) || path === 'test/vectors' ? [] : listFiles(path)
  })
}

test('the source tree follows the structure rules', () => {
  const tree = readTree()
  expect(tree.size).toBeGreaterThan(150)
  expect(findBreaches(tree)).toEqual([])
  expect(findUnused(tree)).toEqual([])
})

// By itself, `vi.waitFor` gives up after a second, which is too short on a busy machine.
test('tests wait with waitFor of test/wait-for.ts', () => {
  const waiting = [...readTree()].filter(([, text]) => /\bvi\.waitFor\(/.test(text)).map(([path]) => path)
  expect(waiting).toEqual(['test/wait-for.ts'])
})

test.each<[string, Record<string, string>, string[]]>([
  [
    'a file of a lower layer that imports from a higher layer',
    { 'store/a.ts': `import '../memory/b.ts'` },
    ['upward: src/store/a.ts imports src/memory/b.ts'],
  ],
  [
    'a file that imports from a folder that belongs to no layer',
    { 'http/a.ts': `import '../utils/b.ts'` },
    ['layer: src/utils/b.ts stands on none'],
  ],
  [
    'a file that imports a package without permission',
    { 'hostname/classify.ts': `import { parse } from 'tldts'` },
    ['package: src/hostname/classify.ts imports tldts'],
  ],
  [
    'a file that imports more than types from a framework',
    { 'http/express.ts': `import { Router } from 'express'` },
    ['package: src/http/express.ts imports more than types of express'],
  ],
  [
    'a line of more than 120 columns',
    { 'options.ts': `x()\n// ${'-'.repeat(118)}\n` },
    ['long line: src/options.ts:2, 121 of 120'],
  ],
])('the structure rules report %s', (_, files, breaches) => {
  const tree = new Map(Object.entries(files).map(([path, text]) => [`src/${path}`, text]))
  expect(findBreaches(tree)).toEqual(breaches)
})

test('each export of a file is imported by another file, or by applications', () => {
  const files = [...entries.values()].map(file => file.slice(root.length))
  expect(findUnimported(readTree(), files)).toEqual(Object.keys(exportedOnly))
})

test('an export that no file imports is reported', () => {
  const used = 'export interface Used {}\nexport const both = 1\nexport async function* go() {}\nexport type Lost = 1'
  const tree = new Map([
    ['src/a/b.ts', used],
    ['src/a/c.ts', `import {\n  both as other,\n  type Used,\n} from './b.ts'\nexport const c = 1`],
    ['src/index.ts', `export * as all from './a/c.ts'\nexport const entry = 1`],
  ])
  expect(findUnimported(tree, ['src/index.ts'])).toEqual(['src/a/b.ts: go', 'src/a/b.ts: Lost'])
})

test('an import permission that no file uses is reported', () => {
  const tree = new Map([['src/hostname/public-suffix.ts', `import { parse } from 'tldts'`]])
  expect(findUnused(tree).filter(unused => /tldts$|zod/.test(unused))).toEqual([
    'unused: src/wire/ may import zod',
    'unused: src/openapi/ may import zod',
  ])
})
