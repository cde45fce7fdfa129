import { readFileSync } from 'node:fs'

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')

/** The cases of a vector file; a file without any is a mistake, and an error. */
export function readCases<Case>(file: string): Case[] {
  const { cases } = JSON.parse(read(file)) as { cases: Case[] }
  if (cases.length === 0) throw new Error(`${file} holds no cases`)
  return cases
}

/** A text file with one name a line, as flat strings, as they come from a request. */
export function readLines(file: string): string[] {
  return JSON.parse(JSON.stringify(read(file).trim().split('\n')))
}
