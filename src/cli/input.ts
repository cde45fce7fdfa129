import { createInterface } from 'node:readline'

/** Reads the lines of the standard input, without empty ones. */
export async function readInput(): Promise<string[]> {
  const lines: string[] = []
  for await (const line of createInterface({ input: process.stdin, crlfDelay: Number.POSITIVE_INFINITY })) {
    if (line.trim() !== '') lines.push(line.trim())
  }
  return lines
}
