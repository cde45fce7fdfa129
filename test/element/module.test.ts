import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'

test.each(['element.js', 'element.cjs'])('dist/%s contains no Public Suffix List, which pages need not load', name => {
  const list = readFileSync(createRequire(import.meta.url).resolve('tldts'), 'utf8')
  const module = readFileSync(new URL(`../../dist/${name}`, import.meta.url), 'utf8')
  const suffixes = ['sells-for-less', 'githubusercontent']
  expect(suffixes.filter(suffix => list.includes(suffix))).toEqual(suffixes)
  expect(suffixes.filter(suffix => module.includes(suffix))).toEqual([])
})
