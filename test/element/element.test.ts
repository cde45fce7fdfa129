import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { expect, test } from 'vitest'
import { german } from '../../examples/messages-in-german.ts'
import { type ElementWords, english } from '../../src/element/words.ts'
import { previewDomains } from '../../src/index.ts'
import { createStore, team1 } from '../fixtures.ts'

test('the German catalogue of the examples fits, and the English one has no technical terms', async () => {
  const words: Partial<ElementWords> = { reasons: german }
  const domains = ['https://a.com/', 'localhost', 'a.example.con', 'co.uk', 'a b.com', '10.0.0.1']
  const { results } = (await previewDomains(team1, { domains }, createStore())).data
  for (const result of results) {
    if (!('reason' in result)) throw new Error(`${result.input} was not rejected`)
    const [inGerman, inEnglish] = [words.reasons?.[result.reason], english.reasons[result.reason]].map(sentence =>
      typeof sentence === 'function' ? sentence(result) : sentence,
    )
    expect(inGerman).toMatch(/^(?:ist|hat|endet|enthält) /)
    expect(inEnglish).toMatch(/^(?:is|has|ends) /)
    expect(inEnglish).not.toMatch(/RFC|suffix|tldts|A-label/i)
  }
})

const none = { ready: 0, registered: 0, correctable: 0, hopeless: 0, full: 0, repeated: 0 }

test('the English words about one name are in the singular', () => {
  expect(english.checked({ ...none, ready: 1, correctable: 1, repeated: 1 })).toBe(
    '1 name can be registered, 1 needs a correction, 1 repeated row left out',
  )
  expect(english.askDelete(1)).toBe('Delete 1 name? It will no longer be monitored.')
  expect(english.useAll(1)).toBe('Use the correction')
})

test.each(['element.js', 'element.cjs'])('dist/%s contains no Public Suffix List, which pages need not load', name => {
  const list = readFileSync(createRequire(import.meta.url).resolve('tldts'), 'utf8')
  const module = readFileSync(new URL(`../../dist/${name}`, import.meta.url), 'utf8')
  const suffixes = ['sells-for-less', 'githubusercontent']
  expect(suffixes.filter(suffix => list.includes(suffix))).toEqual(suffixes)
  expect(suffixes.filter(suffix => module.includes(suffix))).toEqual([])
})
