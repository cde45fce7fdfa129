/**
 * Searches for strings for which `classifyHostname` is slow. A genetic algorithm mutates and recombines the slowest
 * strings. Prints the slowest of all as cases for `test/vectors/slow-inputs.json`: `npx tsx bench/slow-inputs.ts
 * [generations] [seed]`.
 */

import { classifyHostname } from '../src/index.ts'
import { readCases } from '../test/vectors/read.ts'

const [generations = 200, seed = 1] = process.argv.slice(2).map(Number)
const MAX_LENGTH = 512
const POPULATION = 60

const genes = [
  ...'a1-._*@/:%"(,;#?[]<\\ \t',
  ...'üяא日ئ\u0301\u0316\u0e31\u0e48\u200c\u200d\u200e\u00ad\ufdfa\u0130ß–“•。１𝟙💩\ud800\u094d\u0628',
  // Marks that NFC decomposes and sorts, characters that UTS #46 ignores, all dots, and context-dependent characters.
  ...'\u0f73\u0f71\u0f72\u0338\u0344\u0327\u3099\u1161\u1100\u180b\ufe0f\u{e0100}。．｡\u30fbア·l\u05f3\u0375',
  'xn--',
  'xn--zzzz',
  'xn--mysite-xg0c.',
  '–',
  '@',
  '*.',
  '0x',
  '://',
  'https:',
  '[.]',
  ' - ',
  '.com',
  '.con',
  '::',
  '8.8.8.',
  'www,',
]

let state = seed | 1
function random(below: number): number {
  state ^= state << 13
  state ^= state >>> 17
  state ^= state << 5
  return (state >>> 0) % below
}
const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T

function invent(): string {
  const parts = Array.from({ length: 1 + random(4) }, () => pick(genes).repeat(1 + random(250)))
  return parts.join('').slice(0, MAX_LENGTH)
}

function change(text: string): string {
  const at = random(text.length + 1)
  const to = at + random(40)
  switch (random(5)) {
    case 0:
      return text.slice(0, at) + pick(genes).repeat(1 + random(60)) + text.slice(to)
    case 1:
      return text.slice(0, at) + pick(genes) + text.slice(at)
    case 2:
      return text.slice(at) + text.slice(0, at)
    case 3:
      return text.slice(0, at) + pick(population).text.slice(at)
    default:
      return text.slice(at, to + 20).repeat(1 + random(100))
  }
}

/** The time in microseconds: the minimum of a few runs, because other work on the machine can only increase it. */
function measure(text: string): number {
  let least = Number.POSITIVE_INFINITY
  for (let run = 0; run < 5; run += 1) {
    const start = process.hrtime.bigint()
    classifyHostname(text)
    least = Math.min(least, Number(process.hrtime.bigint() - start) / 1000)
  }
  return least
}

interface Finding {
  readonly text: string
  readonly microseconds: number
}
const judge = (text: string): Finding => ({ text, microseconds: measure(text) })
const known = readCases<[string]>('slow-inputs.json').map(([text]) => text)
let population = [...known, ...Array.from({ length: POPULATION }, invent)].map(judge)

for (let generation = 0; generation < generations; generation += 1) {
  const children = population.map(({ text }) => change(text).slice(0, MAX_LENGTH)).map(judge)
  const fresh = Array.from({ length: 10 }, invent).map(judge)
  // Parents are measured again, because other work may have made one of them seem slow.
  const parents = population.map(({ text }) => judge(text))
  const kinds = new Set<string>()
  population = [...parents, ...children, ...fresh]
    .toSorted((a, b) => b.microseconds - a.microseconds)
    .filter(({ text }) => {
      const kind = text.slice(0, 8)
      return !kinds.has(kind) && kinds.add(kind)
    })
    .slice(0, POPULATION)
}
for (const { text, microseconds } of population.slice(0, 12)) {
  console.log(`    [${JSON.stringify(text)}, ${Math.round(microseconds)}],`)
}
