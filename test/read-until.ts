import type { ChildProcess } from 'node:child_process'

/**
 * Waits until what a program prints matches a pattern, and rejects if the program ends first. Reads on afterwards,
 * because a program whose output nobody reads stops at a full pipe.
 *
 * @returns Returns what the program has printed so far.
 */
export function readUntil(program: ChildProcess, pattern: RegExp): Promise<() => string> {
  let [printed, errors] = ['', '']
  program.stderr?.setEncoding('utf8').on('data', text => {
    errors += text
  })
  return new Promise((resolve, reject) => {
    program.stdout?.setEncoding('utf8').on('data', text => {
      printed += text
      if (pattern.test(printed)) resolve(() => printed)
    })
    program.once('close', (code, signal) =>
      reject(new Error(`${program.spawnargs.join(' ')} ended with ${code ?? signal}:\n${printed}${errors}`)),
    )
  })
}
