import { readdirSync, readFileSync } from 'node:fs'
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
    expect(inEnglish).toMatch(/^(?:a|has|an|not|ends) /)
    expect(inEnglish).not.toMatch(/RFC|suffix|tldts|A-label/i)
  }
})

const none = { ready: 0, registered: 0, correctable: 0, hopeless: 0, waiting: 0, full: 0, repeated: 0 }

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

test('custom-elements.json names the properties, events, parts and custom properties that the sources have', () => {
  const folder = new URL('../../src/element/', import.meta.url)
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.ts'))
  const sources = files.map(name => readFileSync(new URL(name, folder), 'utf8'))
  const find = (pattern: RegExp) => [
    ...new Set(sources.flatMap(text => [...text.matchAll(pattern)].flatMap(([, found = '']) => found.split(' ')))),
  ]
  const manifest = JSON.parse(readFileSync(new URL('../../custom-elements.json', import.meta.url), 'utf8'))
  const [declaration] = manifest.modules[0].declarations
  const namesOf = (what: string) => declaration[what].map(({ name }: { name: string }) => name).sort()
  expect(namesOf('cssProperties')).toEqual(find(/var\((--domain-registration-[a-z-]+)/g).sort())
  expect(namesOf('events')).toEqual(find(/^ {2}'([a-z-]+)': CustomEvent/gm).sort())
  expect(namesOf('members')).toEqual([...find(/^ {4}(\w+): \{ (?:attribute|reflect)/gm), 'reload'].sort())
  const kinds = ['primary', 'plain', 'fix', 'wrong']
  const parts = find(/ part="([a-z -]+?)[ "]/g).filter(part => !kinds.includes(part))
  expect(namesOf('cssParts')).toEqual([...new Set(parts)].sort())
})
