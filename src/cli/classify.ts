import { classifyHostname } from '../hostname/classify.ts'
import { type Call, type Command, type Result, readInput } from './command.ts'
import { toPrintable } from './text.ts'

const WIDTH = 'public_suffix_domain'.length + 2

export const classify: Command = {
  synopsis: '[HOSTNAME…]',
  words: { least: 0, most: Number.POSITIVE_INFINITY },
  purpose: 'tells what can be registered, and why not; without words, each line of the standard input',
  async run({ operands }: Call): Promise<Result> {
    const inputs = operands.length > 0 ? operands : await readInput()
    const data = inputs.map(input => ({ input, ...classifyHostname(input) }))
    const lines = data.map(hostname =>
      hostname.valid
        ? `${hostname.kind.padEnd(WIDTH)}${hostname.domain}`
        : `${hostname.code.padEnd(WIDTH)}${toPrintable(hostname.message)}`,
    )
    return { text: lines.map(line => `${line}\n`).join(''), data, isWrong: data.some(({ valid }) => !valid) }
  },
}
