/**
 * Compares `classifyHostname` with functions that do part of its work. All functions take turns on the same hostnames.
 */
import { classifyHostname } from 'domain-registration'
import { parse } from 'tldts'
import { readLines } from '../test/vectors/read.ts'
import { compare, parsed, report, time } from './measure.ts'

const ascii = parsed(readLines('hostnames.txt').filter(text => /^[\0-\x7f]*$/.test(text)))
const international = parsed(readLines('international-hostnames.txt'))
const TURNS = { warmUp: 15, rounds: 40 }

/** Keeps results for a while, as a caller would, so the compiler cannot optimize the work away. */
const kept: unknown[] = new Array(1024).fill(null)

// One loop for each function, so the compiler can specialize it.
const classify = (hostnames: readonly string[]) =>
  time(() => {
    for (let index = 0; index < hostnames.length; index += 1)
      kept[index & 1023] = classifyHostname(hostnames[index] ?? '')
  })
const parseWithTldts = (hostnames: readonly string[]) =>
  time(() => {
    for (let index = 0; index < hostnames.length; index += 1) kept[index & 1023] = parse(hostnames[index] ?? '')
  })
const parseAsUrl = (hostnames: readonly string[]) =>
  time(() => {
    for (let index = 0; index < hostnames.length; index += 1)
      kept[index & 1023] = new URL(`http://${hostnames[index]}/`)
  })

report({
  ascii: await compare(() => ascii, TURNS, classify, parseWithTldts),
  international: await compare(() => international, TURNS, classify, parseAsUrl),
})
