#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { classify } from './classify.ts'
import { type Call, type Command, type Target, UsageError, type Values } from './command.ts'
import type { Connection } from './connection.ts'
import { doctor } from './doctor.ts'
import { createKey, expireKey, listKeys, revokeKey } from './keys.ts'
import { migrate } from './migrate.ts'
import { count, exportAll, find, list, release } from './names.ts'
import { pending } from './pending.ts'
import { openPostgres } from './postgres.ts'
import { openSqlite } from './sqlite.ts'
import { findSecrets, readTarget } from './target.ts'
import { explain } from './text.ts'

const commands: Readonly<Record<string, Command>> = {
  migrate,
  doctor,
  'keys create': createKey,
  'keys list': listKeys,
  'keys expire': expireKey,
  'keys revoke': revokeKey,
  list,
  find,
  release,
  count,
  pending,
  export: exportAll,
  classify,
}

const shared = {
  database: { type: 'string' },
  schema: { type: 'string' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const

const usage = `domain-registration <command> [options]

${Object.entries(commands)
  .map(([name, { synopsis, purpose }]) => `  ${`${name} ${synopsis}`.trim()}\n      ${purpose}`)
  .join('\n')}

  --database ADDRESS  postgres://… or the path of a SQLite file; default: the environment's DATABASE_URL
  --schema NAME       the schema of the tables in PostgreSQL; default domain_registration
  --json              prints JSON

Exit codes: 0 done, 1 something is wrong, 2 called in a wrong way. See docs/cli.md of the package.
`

interface Request {
  readonly command: Command
  readonly values: Values
  readonly operands: readonly string[]
}

/**
 * Finds the command among the parameters, and reads its options.
 *
 * @throws {UsageError}
 */
function read(parameters: readonly string[]): Request | 'help' {
  const name = [parameters.slice(0, 2).join(' '), parameters[0] ?? ''].find(name => Object.hasOwn(commands, name))
  const command = name === undefined ? undefined : commands[name]
  if (name === undefined || command === undefined) {
    if (parameters.length === 0 || parameters.includes('--help') || parameters.includes('-h')) return 'help'
    throw new UsageError(`The command comes first, and is one of: ${Object.keys(commands).join(', ')}`)
  }
  const options = { ...shared, ...command.options }
  try {
    const rest = parameters.slice(name.split(' ').length)
    const { values, positionals } = parseArgs({ args: [...rest], options, allowPositionals: true })
    if (values.help) return 'help'
    requireWords(positionals, command)
    return { command, values: values as Values, operands: positionals }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function requireWords({ length }: readonly string[], { words: { least, most }, synopsis }: Command): void {
  if (length < least) throw new UsageError(`The command takes ${synopsis}`)
  if (length > most)
    throw new UsageError(most === 0 ? 'The command takes only options' : `The command takes ${synopsis}`)
}

async function run({ command, values, operands }: Request): Promise<number> {
  const opened: Connection[] = []
  const target = () => readTarget(values, process.env)
  const call: Call = {
    values,
    operands,
    target,
    async connect(options) {
      const connection = open(target(), options)
      opened.push(connection)
      return connection
    },
    write,
  }
  try {
    const result = await command.run(call)
    if (result) await write(values.json ? `${JSON.stringify(result.data, null, 2)}\n` : result.text)
    return result?.isWrong ? 1 : 0
  } finally {
    for (const connection of opened) await connection.close()
  }
}

const open = (target: Target, options?: { readonly mayCreate?: boolean }): Connection =>
  target.kind === 'postgres' ? openPostgres(target) : openSqlite(target.file, options)

const write = (text: string): Promise<void> =>
  new Promise((resolve, reject) => process.stdout.write(text, error => (error ? reject(error) : resolve())))

/** What the library itself finds wrong with an option or a field came from the command line. */
const isUsage = (error: unknown): boolean =>
  error instanceof UsageError || (error instanceof TypeError && /^The (?:option|field) "/.test(error.message))

async function main(parameters: readonly string[]): Promise<number> {
  const secrets = findSecrets(process.env, parameters)
  try {
    const request = read(parameters)
    if (request === 'help') {
      await write(usage)
      return parameters.length === 0 ? 2 : 0
    }
    return await run(request)
  } catch (error) {
    // Whoever read us has seen enough, such as head.
    if ((error as { code?: unknown }).code === 'EPIPE') return 0
    process.stderr.write(`domain-registration: ${explain(error, secrets)}\n`)
    if (isUsage(error)) process.stderr.write('See domain-registration --help\n')
    return isUsage(error) ? 2 : 1
  }
}

process.stdout.on('error', () => {})
main(process.argv.slice(2)).then(code => {
  process.exitCode = code
})
