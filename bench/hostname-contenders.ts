import { classifyHostname } from 'domain-registration'
import psl from 'psl'
import { parse } from 'tldts'
import validator from 'validator'
import { readCases, readLines } from '../test/vectors/read.ts'
import type { Contender } from './measure.ts'

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text)
const ascii = readLines('hostnames.txt').filter(isAscii)

/** Addresses spread over the public space, half of them IPv6. */
const addresses = Array.from({ length: 10_000 }, (_, index) => {
  const mixed = Math.imul(index + 1, 0x9e3779b1) >>> 0
  return index % 2
    ? `2606:4700:${(mixed >>> 16).toString(16)}::${((mixed & 0x7fff) + 1).toString(16)}`
    : `${1 + ((mixed >>> 24) % 9)}.${(mixed >>> 16) & 255}.${(mixed >>> 8) & 255}.${mixed & 255}`
})

/** What people send by mistake, made of real names, in equal parts. */
const mistakes: ((name: string) => string)[] = [
  name => `https://${name}/`,
  name => `${name}:443`,
  name => `${name}/path`,
  name => `someone@${name}`,
  name => `_dmarc.${name}`,
  name => `my_${name}`,
  name => `${name},`,
  name => `${name} ${name}`,
  name => `*${name}`,
  name => `-${name}`,
  name => `${name.slice(0, name.lastIndexOf('.'))}.con`,
  name => `${name.slice(0, name.lastIndexOf('.'))}.lan`,
  name => name.slice(name.lastIndexOf('.') + 1),
  name => name.slice(0, name.indexOf('.')),
  name => `10.0.${name.length}.${name.charCodeAt(0)}`,
  name => `0x7f.${name.length}`,
  name => `fe80::${name.length}`,
  () => ' ',
]
const rejected = Array.from(
  { length: 18_000 },
  (_, index) => mistakes[index % mistakes.length]?.(ascii[index] ?? '') ?? '',
)

/** Names in scripts that are written from right to left or with marks. */
const complexScripts =
  'החנות.קום עופראיתן.com החנות-האינטרנטית-שלי.קום ایئرکلاسیکیفائرڈ.com الفود.com کوکبوب.ml ' +
  'रामेश्वरम.com गोवर्धनमठ.com ' +
  'કાઈવાંગ.ભારત சென்னை.இந்தியா హైదరాబాద్.భారత్ ಬೆಂಗಳೂರು.ಭಾರತ കൊച്ചി.ഭാരതം ঢাকা.বাংলা ไทย.ไทย'

/** Strings of their own, as they come out of a parsed request, where `split` and templates make slices and ropes. */
const parsed = (texts: readonly string[]): string[] => JSON.parse(JSON.stringify(texts))

/** Sets of input. */
const inputs = {
  ascii: parsed(ascii),
  international: parsed(readLines('international-hostnames.txt')),
  complexScripts: parsed(complexScripts.split(' ')),
  hostile: parsed(readCases<[string]>('slow-inputs.json').map(([text]) => text)),
  addresses: parsed(addresses),
  rejected: parsed(rejected),
}
export type InputSet = keyof typeof inputs

/** Results are kept for a while, as a caller would, so that making them cannot be optimized away. */
const kept: unknown[] = new Array(1024).fill(null)

function over(set: InputSet, work: (hostname: string) => unknown): () => Contender {
  const hostnames = inputs[set]
  return () => ({
    operations: hostnames.length,
    run() {
      for (let index = 0; index < hostnames.length; index += 1) kept[index & 1023] = work(hostnames[index] as string)
    },
  })
}

const work = {
  classifyHostname,
  'tldts.parse': (hostname: string) => parse(hostname),
  'psl.parse': (hostname: string) => psl.parse(hostname),
  'validator.isFQDN': (hostname: string) => validator.isFQDN(hostname),
  'new URL': (hostname: string) => new URL(`http://${hostname}/`),
}

export const contenders = Object.fromEntries(
  (Object.keys(inputs) as InputSet[]).flatMap(set =>
    Object.entries(work).map(([name, run]) => [`${set}: ${name}`, over(set, run)] as const),
  ),
)
