import { readFileSync } from 'node:fs'

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8')

/** The cases of a vector file. Throws if the file has no cases. */
export function readCases<Case>(file: string): Case[] {
  const { cases } = JSON.parse(read(file)) as { cases: Case[] }
  if (cases.length === 0) throw new Error(`${file} has no cases`)
  return cases
}

/** Reads a text file that has one name per line. The names are flat strings, like the strings in a parsed request. */
export function readLines(file: string): string[] {
  return JSON.parse(JSON.stringify(read(file).trim().split('\n')))
}
