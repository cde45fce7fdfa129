import { readFileSync } from 'node:fs'

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')

/** The cases of a vector file. Throws if there are none. */
export function readCases<Case>(file: string): Case[] {
  const { cases } = JSON.parse(read(file)) as { cases: Case[] }
  if (cases.length === 0) throw new Error(`${file} has no cases`)
  return cases
}

/** The lines of a text file with one name on each, as flat strings like those of a parsed request. */
export function readLines(file: string): string[] {
  return JSON.parse(JSON.stringify(read(file).trim().split('\n')))
}
