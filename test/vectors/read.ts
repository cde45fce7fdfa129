import { readFileSync } from 'node:fs'

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')

/** The cases of a vector file. Throws if there are none. */
export function readCases<Case>(file: string): Case[] {
  const { cases } = JSON.parse(read(file)) as { cases: Case[] }
  if (cases.length === 0) throw new Error(`${file} has no cases`)
  return cases
}

/** The names in a text file that has one name per line, as flat strings, like those in a parsed request. */
export function readLines(file: string): string[] {
  return JSON.parse(JSON.stringify(read(file).trim().split('\n')))
}
