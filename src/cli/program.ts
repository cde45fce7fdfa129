import { parseArgs } from 'node:util'
import { type Command, type Invocation, type ProgramProcess, UsageError, type Values } from './command.ts'
import { hasNoTables, type OpenDatabase, openDatabase } from './database.ts'
import { explainError, findSecrets, readTarget } from './database-address.ts'
import { doctor, status } from './doctor.ts'
import { createKey, expireKey, exportKeys, importKeys, listKeys, revokeKeys, rotateKey, whoseKey } from './keys.ts'
import { migrate } from './migrate.ts'
import { exportRegistrations, importRegistrations } from './move.ts'
import { pending } from './pending.ts'
import { classify, countNames, findNames, listNames, releaseNames, transferNames } from './registrations.ts'
import { findSimilar, page, readVersion, toColumns, toJson, toParagraph, toPrintable } from './text.ts'
import { waiting } from './waiting.ts'

const groups: Readonly<Record<string, Readonly<Record<string, Command>>>> = {
  'Set up and look after': { migrate, status, doctor, pending, waiting },
  'API keys': {
    'keys create': createKey,
    'keys rotate': rotateKey,
    'keys list': listKeys,
    'keys who': whoseKey,
    'keys expire': expireKey,
    'keys revoke': revokeKeys,
  },
  Registrations: {
    list: listNames,
    find: findNames,
    count: countNames,
    release: releaseNames,
    transfer: transferNames,
    classify,
  },
  'Move to another database': {
    export: exportRegistrations,
    import: importRegistrations,
    'keys export': exportKeys,
    'keys import': importKeys,
  },
}

const commands: Readonly<Record<string, Command>> = Object.assign({}, ...Object.values(groups))

/** The options of every command. */
const sharedOptions = {
  '--database <address>': "postgres://… or the path of a SQLite file; default: the environment's DATABASE_URL",
  '--schema <name>': 'the schema of the tables in PostgreSQL; default domain_registration',
  '--json': 'prints JSON',
}

/** Lists all commands, or those that begin with a word, such as "keys". */
function toOverview(start = ''): string {
  const sections = Object.entries(groups).flatMap(([title, group]) => {
    const rows = Object.entries(group).filter(([name]) => `${name} `.startsWith(start))
    return rows.length === 0 ? [] : [`${title}:\n${toColumns(rows.map(([name, { purpose }]) => [name, purpose]))}`]
  })
  return `domain-registration <command> [options]

${sections.join('\n\n')}

${toParagraph('"domain-registration <command> --help" shows the options of a command and an example.')}
"domain-registration --version" shows the version of the package.

Exit codes: 0 done, 1 something is wrong, 2 the command or an option is wrong.
See ${page('cli.md')}
`
}

const toHelp = (name: string, { words = '', purpose, details = '', options, example }: Command): string =>
  `domain-registration ${`${name} ${words}`.trim()} [options]

${toParagraph(`${purpose[0]?.toUpperCase()}${purpose.slice(1)}. ${details}`.trim())}

${toColumns(Object.entries({ ...options, ...sharedOptions }))}

Example: npx domain-registration ${`${name} ${example}`.trim()}
`

interface Request extends Pick<Invocation, 'values' | 'flags' | 'operands'> {
  readonly command: Command
}

/**
 * Finds the command among the parameters, and reads its options. Returns a text if the parameters ask for help or for
 * the version.
 *
 * @throws {UsageError}
 */
function read(parameters: readonly string[]): Request | string {
  const [first = '', second = ''] = parameters
  if (first === '--version' || first === '-v') return `${readVersion()}\n`
  if (first === 'help') return read([...parameters.slice(1), '--help'])
  const name = [`${first} ${second}`, first].find(name => Object.hasOwn(commands, name)) ?? ''
  const command = commands[name]
  if (!command) {
    const isHelp = parameters.includes('--help') || parameters.includes('-h')
    const isGroup = Object.keys(commands).some(name => name.startsWith(`${first} `))
    if (isGroup && (isHelp || second === '')) return toOverview(`${first} `)
    if (['', '--help', '-h'].includes(first)) return toOverview()
    throw unknownWord('command', isGroup ? `${first} ${second}` : first, Object.keys(commands))
  }
  const options = {
    ...toOptions({ ...command.options, ...sharedOptions }),
    help: { type: 'boolean', short: 'h' } as const,
  }
  const args = parameters.slice(name.split(' ').length)
  const { tokens } = parseArgs({ args, options, allowPositionals: true, strict: false, tokens: true })
  const passed = tokens.flatMap(token => (token.kind === 'option' ? token.name : []))
  if (passed.includes('help')) return toHelp(name, command)
  const unknown = passed.find(option => !Object.hasOwn(options, option))
  if (unknown !== undefined)
    throw unknownWord(
      'option',
      `--${unknown}`,
      Object.keys(options).map(each => `--${each}`),
    )
  const repeated = passed.find((option, index) => passed.indexOf(option) < index)
  if (repeated) throw new UsageError(`Pass --${repeated} only once`)
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    const [empty] = Object.entries<unknown>(values).find(([, value]) => value === '') ?? []
    if (empty) throw new UsageError(`--${empty} must not be empty`)
    requireWords(positionals, command)
    const flags = Object.entries(values).flatMap(([option, value]) => (value === true ? [option] : []))
    return { command, values: values as Values, flags: new Set(flags), operands: positionals }
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function unknownWord(kind: 'command' | 'option', word: string, known: readonly string[]): UsageError {
  const similar = findSimilar(word, known)
  return new UsageError(`There is no ${kind} "${word}"${similar === undefined ? '' : `. Did you mean "${similar}"?`}`)
}

/** An option takes a value if it is written with one: `--team <id>`. */
const toOptions = (options: object) =>
  Object.fromEntries(
    Object.keys(options).map(option => {
      const [name = '', value] = option.slice(2).split(' ')
      return [name, { type: value === undefined ? ('boolean' as const) : ('string' as const) }]
    }),
  )

function requireWords(passed: readonly string[], { words = '' }: Command): void {
  const most = words.includes('...') ? Number.POSITIVE_INFINITY : words === '' ? 0 : 1
  if (passed.length <= most && (passed.length > 0 || !words.startsWith('<'))) return
  throw new UsageError(most === 0 ? 'The command takes only options' : `The command expects ${words}`)
}

async function run(
  { command, ...request }: Request,
  surroundings: Pick<Invocation, 'process' | 'write' | 'explain'>,
): Promise<number> {
  const { process, write } = surroundings
  let database: OpenDatabase | undefined
  const target = (otherwise?: string) => readTarget(request.values, process.env, otherwise)
  const connect: Invocation['connect'] = options => {
    database = openDatabase(target(), options)
    return database
  }
  try {
    const result = await command.run({ ...request, ...surroundings, target, connect })
    if (result) await write(request.flags.has('json') ? `${toJson(result.data, 2)}\n` : toPrintable(result.text))
    return result?.isWrong ? 1 : 0
  } catch (error) {
    if (!hasNoTables(error)) throw error
    const advice = 'The tables are missing: run "domain-registration migrate", or check --schema'
    throw new Error(advice, { cause: error })
  } finally {
    await database?.close()
  }
}

type Write = Invocation['write']

/** The program that reads the output, such as `head`, has closed the pipe. */
class OutputClosedError extends Error {}

const createWrite =
  ({ stdout }: ProgramProcess): Write =>
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
  error instanceof UsageError ||
  (error instanceof TypeError && /^(?:Line \d+: )?The (?:option|field) "/.test(error.message))

/**
 * Runs the command named in the parameters.
 *
 * @returns The exit code.
 */
export async function runProgram(parameters: readonly string[], process: ProgramProcess): Promise<number> {
  const { env, stderr } = process
  const secrets = findSecrets(env, parameters)
  const explain = (error: unknown) => explainError(error, secrets)
  const write = createWrite(process)
  try {
    const request = read(parameters)
    if (typeof request !== 'string') return await run(request, { process, write, explain })
    await write(request)
    return parameters.length === 0 ? 2 : 0
  } catch (error) {
    if (error instanceof OutputClosedError) return 0
    stderr.write(`domain-registration: ${toPrintable(explain(error))}\n`)
    if (isUsage(error)) stderr.write('See domain-registration --help\n')
    return isUsage(error) ? 2 : 1
  }
}
