import { eachPage } from '../operations/each-registration.ts'
import { importDomains, type RegistrationToImport } from '../operations/import-domains.ts'
import { MOST_WAITING } from '../operations/keep-waiting.ts'
import type { ManagedStore } from '../store/managed-store.ts'
import type { WaitingName } from '../store/waiting.ts'
import { type Command, type Invocation, type Result, readLines } from './command.ts'
import { eachPending } from './pending.ts'
import { plural, toJson, toTable } from './text.ts'
import { eachWaiting } from './waiting.ts'

/** The last line of an export. An export without this line may be incomplete. */
interface End {
  readonly end: true
  readonly registrations: number
  /** How many names wait. Default 0. */
  readonly waiting?: number
}

/** A line about a name that waits. */
interface WaitingLine extends Pick<WaitingName, 'teamId' | 'domain' | 'registrableDomain' | 'refusal'> {
  readonly waits: true
  readonly until: string
}

export const exportRegistrations: Command = {
  purpose: 'writes all registrations, and the names that wait, as lines of JSON, for "import"',
  details: 'The last line says how many there are.',
  example: '> registrations.ndjson',
  async run({ connect, write }: Invocation): Promise<undefined> {
    const database = connect()
    const store = database.createStore()
    await requireNoReleases(store)
    let [registrations, waiting] = [0, 0]
    for await (const page of eachPage(store.list, {})) {
      await write(page.map(registration => `${toJson(registration)}\n`).join(''))
      registrations += page.length
    }
    for await (const { teamId, domain, registrableDomain, refusal, until } of eachWaiting(database)) {
      await write(`${toJson({ waits: true, teamId, domain, registrableDomain, refusal, until })}\n`)
      waiting += 1
    }
    await write(`${JSON.stringify({ end: true, registrations, ...(waiting > 0 && { waiting }) } satisfies End)}\n`)
    return undefined
  },
}

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
  purpose: 'registers the names that "export" wrote, from standard input',
  details:
    'Keeps their IDs, teams and times. After a failure, import the same lines again: existing ones do not change. ' +
    'Names that wait are tried at once, and wait until the same time.',
  example: '< registrations.ndjson',
  async run({ process, connect }: Invocation): Promise<Result> {
    const database = connect()
    const store = database.createStore()
    const waiting = database.createWaitingStore()
    let end: End | undefined
    let kept = 0
    async function* read(): AsyncGenerator<RegistrationToImport, void> {
      for await (const { line, number } of readLines(process)) {
        const parsed = readExportedLine(line, number)
        if (isEnd(parsed)) end = parsed
        else if (isWaiting(parsed)) {
          const { teamId, waits: _, until, ...name } = parsed
          const options = { wait: 0, keepFor: Date.parse(until) - Date.now(), most: MOST_WAITING }
          kept += (await waiting.keep(teamId, [name], options)).kept.length
        } else yield parsed
      }
    }
    const { imported, existing, rejected } = await importDomains(store, read())
    const total = imported + existing + rejected.length
    const isWhole = end?.registrations === total && (end.waiting ?? 0) === kept
    const counts = `Imported ${plural(imported, 'registration', 'registrations')}; ${existing} existed already.\n`
    const waits = kept > 0 ? `${plural(kept, 'name waits', 'names wait')}.\n` : ''
    const cut =
      'The input is incomplete: the last line of "export", which has the number of lines, is missing or does not ' +
      'match. Import the whole output again.\n'
    const rows = rejected.map(({ domain, teamId, domainId, code }) => [domain, teamId, domainId, code])
    const table = `\nNot imported:\n${toTable(['DOMAIN', 'TEAM', 'ID', 'WHY'], rows, '')}`
    return {
      text: `${counts}${waits}${isWhole ? '' : cut}${rejected.length > 0 ? table : ''}`,
      data: { imported, existing, rejected, waiting: kept, isWhole },
      isWrong: !isWhole || rejected.length > 0,
    }
  },
}

type Line = RegistrationToImport | WaitingLine | End

function readExportedLine(line: string, number: number): Line {
  try {
    return JSON.parse(line) as Line
  } catch {
    throw new Error(`Line ${number} is not JSON: pass the output of "export"`)
  }
}

const isEnd = (parsed: Line): parsed is End => (parsed as Partial<End> | null)?.end === true
const isWaiting = (parsed: Line): parsed is WaitingLine => (parsed as Partial<WaitingLine> | null)?.waits === true
