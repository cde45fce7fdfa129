import { parseArgs } from 'node:util'
import { backup } from './backup.ts'
import type { Command, Invocation, Surroundings } from './command.ts'
import {
  findSecrets,
  type OpenDatabase,
  openPostgres,
  openSqlite,
  readTarget,
  type Target,
  UsageError,
  type Values,
} from './database.ts'
import { doctor } from './doctor/doctor.ts'
import { status } from './doctor/status.ts'
import { createKey, expireKey, listKeys, revokeKey, rotateKey, whoseKey } from './keys.ts'
import { migrate } from './migrate.ts'
import { exportRegistrations, importRegistrations } from './move.ts'
import { exportKeys, importKeys } from './move-keys.ts'
import { classify, count, find, list } from './names.ts'
import { pending } from './pending.ts'
import { releaseNames, transferNames } from './teams.ts'
import { explainError, toJson } from './text.ts'
import { readVersion } from './version.ts'

const commands: Readonly<Record<string, Command>> = {
  migrate,
  status,
  doctor,
  'keys create': createKey,
  'keys rotate': rotateKey,
  'keys list': listKeys,
  'keys who': whoseKey,
  'keys expire': expireKey,
  'keys revoke': revokeKey,
  'keys export': exportKeys,
  'keys import': importKeys,
  list,
  find,
  release: releaseNames,
  transfer: transferNames,
  count,
  pending,
  export: exportRegistrations,
  import: importRegistrations,
  backup,
  classify,
}

const usage = `domain-registration <command> [options]

${Object.entries(commands)
  .map(([name, { synopsis = '', purpose }]) => `  ${`${name} ${synopsis}`.trim()}\n      ${purpose}`)
  .join('\n')}

  --database ADDRESS  postgres://… or the path of a SQLite file; default: the environment's DATABASE_URL
  --schema NAME       the schema of the tables in PostgreSQL; default domain_registration
  --json              prints JSON
  --version           prints the version of the package

Exit codes: 0 done, 1 something is wrong, 2 the command or an option is wrong. See docs/cli.md in the package.
`

interface Request extends Pick<Invocation, 'values' | 'flags' | 'operands'> {
  readonly command: Command
}

/**
 * Finds the command among the parameters, and reads its options.
 *
 * @throws {UsageError}
 */
function read(parameters: readonly string[]): Request | 'help' | 'version' {
  if (parameters[0] === '--version') return 'version'
  const name = [parameters.slice(0, 2).join(' '), parameters[0] ?? ''].find(name => Object.hasOwn(commands, name))
  const command = name === undefined ? undefined : commands[name]
  if (name === undefined || command === undefined) {
    if (parameters.length === 0 || parameters.includes('--help') || parameters.includes('-h')) return 'help'
    throw new UsageError(`The first argument must be one of these commands: ${Object.keys(commands).join(', ')}`)
  }
  try {
    const { values, positionals, tokens } = parseArgs({
      args: parameters.slice(name.split(' ').length),
      options: {
        ...toOptions('string', ['database', 'schema', ...(command.options ?? [])]),
        ...toOptions('boolean', ['json', ...(command.flags ?? [])]),
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
      tokens: true,
    })
    if (values.help) return 'help'
    requireWords(positionals, command)
    requireEachOnce(tokens.flatMap(token => (token.kind === 'option' ? token.name : [])))
    const flags = Object.entries(values).flatMap(([option, value]) => (value === true ? [option] : []))
    return { command, values: values as Values, flags: new Set(flags), operands: positionals }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

const toOptions = <Type extends 'string' | 'boolean'>(type: Type, names: readonly string[]) =>
  Object.fromEntries(names.map(name => [name, { type }]))

function requireWords(words: readonly string[], { words: { least, most } = NO_WORDS, synopsis }: Command): void {
  if (words.length >= least && words.length <= most) return
  throw new UsageError(most === 0 ? 'The command takes only options' : `The command expects ${synopsis}`)
}

function requireEachOnce(options: readonly string[]): void {
  const repeated = options.find((option, index) => options.indexOf(option) < index)
  if (repeated) throw new UsageError(`Pass --${repeated} only once`)
}

const NO_WORDS = { least: 0, most: 0 }

async function run({ command, ...request }: Request, surroundings: Surroundings, write: Write): Promise<number> {
  let connection: OpenDatabase | undefined
  const target = (otherwise?: string) => readTarget(request.values, surroundings.env, otherwise)
  function connect(options?: { readonly mayCreate?: boolean }): OpenDatabase {
    connection = open(target(), options)
    return connection
  }
  try {
    const result = await command.run({ ...request, surroundings, target, connect, write })
    if (result) await write(request.flags.has('json') ? `${toJson(result.data, 2)}\n` : result.text)
    return result?.isWrong ? 1 : 0
  } finally {
    await connection?.close()
  }
}

const open = (target: Target, options?: { readonly mayCreate?: boolean }): OpenDatabase =>
  target.kind === 'postgres' ? openPostgres(target) : openSqlite(target.file, options)

type Write = Invocation['write']

/** The program that reads the output, such as `head`, has closed the pipe. */
class OutputClosedError extends Error {}

const createWrite =
  ({ stdout }: Surroundings): Write =>
  text =>
    new Promise((resolve, reject) =>
      stdout.write(text, (error: NodeJS.ErrnoException | null | undefined) => {
        if (error) reject(error.code === 'EPIPE' ? new OutputClosedError() : error)
        else resolve()
      }),
    )

/**
 * Whether the command line caused the error. An option or field that the library rejects came from the command line.
 */
const isUsage = (error: unknown): boolean =>
  error instanceof UsageError || (error instanceof TypeError && /^The (?:option|field) "/.test(error.message))

/**
 * Runs the command named in the parameters.
 *
 * @returns The exit code.
 */
export async function runProgram(parameters: readonly string[], surroundings: Surroundings): Promise<number> {
  const { env, stderr } = surroundings
  const secrets = findSecrets(env, parameters)
  const write = createWrite(surroundings)
  try {
    const request = read(parameters)
    if (request === 'version') {
      await write(`${readVersion()}\n`)
      return 0
    }
    if (request === 'help') {
      await write(usage)
      return parameters.length === 0 ? 2 : 0
    }
    return await run(request, surroundings, write)
  } catch (error) {
    if (error instanceof OutputClosedError) return 0
    stderr.write(`domain-registration: ${explainError(error, secrets)}\n`)
    if (isUsage(error)) stderr.write('See domain-registration --help\n')
    return isUsage(error) ? 2 : 1
  }
}
