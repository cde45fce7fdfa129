import { eachPage } from '../operations/each-registration.ts'
import { importDomains, type RegistrationToImport } from '../operations/import-domains.ts'
import type { Registration } from '../rules/registration.ts'
import type { ManagedStore } from '../store/managed-store.ts'
import { type Command, type Invocation, type Result, readLines } from './command.ts'
import { UsageError } from './database.ts'
import { eachPending } from './pending.ts'
import { ofTeam, toData } from './registrations.ts'
import { plural, toJson, toTable } from './text.ts'

/** The last line of `export --all`. An export without this line may be incomplete. */
interface End {
  readonly end: true
  readonly registrations: number
}

export const exportRegistrations: Command = {
  purpose: 'writes registrations as lines of JSON or CSV',
  options: {
    '--team <id>': 'only those of this team',
    '--format <format>': 'ndjson or csv; default ndjson',
    '--after <id>': 'resumes an export after this ID',
    '--all': 'writes the lines that "import" reads, with a last line that says how many there are',
  },
  example: '--all > registrations.ndjson',
  async run({ values, flags, connect, write }: Invocation): Promise<undefined> {
    const { team: teamId, after, format = 'ndjson' } = values
    const isForImport = flags.has('all')
    if (isForImport && [teamId, after, values.format].some(value => value !== undefined))
      throw new UsageError('--all cannot be combined with --team, --after or --format')
    if (format !== 'ndjson' && format !== 'csv') throw new UsageError('--format must be csv or ndjson')
    const store = connect().createStore()
    if (isForImport) await requireNoReleases(store)
    let registrations = 0
    if (format === 'csv') await write(`${columns.join()}\r\n`)
    for await (const page of eachPage(store.list, { ...ofTeam(teamId), after })) {
      const toLine = format === 'csv' ? toCsv : isForImport ? toImportLine : toJsonLine
      await write(page.map(toLine).join(''))
      registrations += page.length
    }
    if (isForImport) await write(`${JSON.stringify({ end: true, registrations } satisfies End)}\n`)
    return undefined
  },
}

const toJsonLine = (registration: Registration) => `${toJson(toData(registration))}\n`

const toImportLine = (registration: Registration) => `${toJson(registration)}\n`

const columns = ['domain', 'domainId', 'teamId', 'createdAt', 'synchronized'] as const

/** RFC 4180, section 2. Only team IDs may need quotes. */
function toCsv({ createdAt, ...registration }: Registration): string {
  const row = { ...registration, createdAt: createdAt.toISOString() }
  return `${columns.map(column => quote(String(row[column]))).join()}\r\n`
}

const quote = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/**
 * Fails if a release is pending. An export contains only registrations, so after an import, the monitor would never get
 * the pending release.
 */
async function requireNoReleases(store: ManagedStore): Promise<void> {
  for await (const { kind, domain } of eachPending(store)) {
    if (kind !== 'released') continue
    throw new Error(
      `The release of ${JSON.stringify(domain)} is still pending, and an import would lose it. ` +
        'Export again once your server has pushed the release; see "pending"',
    )
  }
}

export const importRegistrations: Command = {
  purpose: 'registers the names that "export --all" wrote, from standard input',
  details:
    'Keeps their IDs, teams and times. After a failure, import the same lines again: existing ones do not change.',
  example: '< registrations.ndjson',
  async run({ process, connect }: Invocation): Promise<Result> {
    const store = connect().createStore()
    let end: End | undefined
    async function* read(): AsyncGenerator<RegistrationToImport, void> {
      let number = 0
      for await (const line of readLines(process)) {
        number += 1
        const parsed = parse(line, number)
        if (isEnd(parsed)) end = parsed
        else yield parsed
      }
    }
    const { imported, existing, rejected } = await importDomains(store, read())
    const total = imported + existing + rejected.length
    const isWhole = end?.registrations === total
    const counts = `Imported ${plural(imported, 'registration', 'registrations')}; ${existing} existed already.\n`
    const cut =
      'The input is incomplete: the last line of "export --all", which has the number of lines, is missing or does ' +
      'not match. Import the whole output again.\n'
    const rows = rejected.map(({ domain, teamId, domainId, code }) => [domain, teamId, domainId, code])
    const table = `\nNot imported:\n${toTable(['DOMAIN', 'TEAM', 'ID', 'WHY'], rows, '')}`
    return {
      text: `${counts}${isWhole ? '' : cut}${rejected.length > 0 ? table : ''}`,
      data: { imported, existing, rejected, isWhole },
      isWrong: !isWhole || rejected.length > 0,
    }
  },
}

function parse(line: string, number: number): RegistrationToImport | End {
  try {
    return JSON.parse(line) as RegistrationToImport | End
  } catch {
    throw new Error(`Line ${number} is not JSON: pass the output of "export --all"`)
  }
}

const isEnd = (parsed: RegistrationToImport | End): parsed is End => (parsed as Partial<End> | null)?.end === true
