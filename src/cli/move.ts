import { eachPage } from '../operations/each-registration.ts'
import { importDomains, type RegistrationToImport } from '../operations/import-domains.ts'
import type { ManagedStore } from '../store/managed-store.ts'
import { type Command, type Invocation, type Result, readLines } from './command.ts'
import { eachPending } from './pending.ts'
import { plural, toJson, toTable } from './text.ts'

/** The last line of an export. An export without this line may be incomplete. */
interface End {
  readonly end: true
  readonly registrations: number
}

export const exportRegistrations: Command = {
  purpose: 'writes all registrations as lines of JSON, for "import"',
  details: 'The last line says how many there are.',
  example: '> registrations.ndjson',
  async run({ connect, write }: Invocation): Promise<undefined> {
    const store = connect().createStore()
    await requireNoReleases(store)
    let registrations = 0
    for await (const page of eachPage(store.list, {})) {
      await write(page.map(registration => `${toJson(registration)}\n`).join(''))
      registrations += page.length
    }
    await write(`${JSON.stringify({ end: true, registrations } satisfies End)}\n`)
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
    'Keeps their IDs, teams and times. After a failure, import the same lines again: existing ones do not change.',
  example: '< registrations.ndjson',
  async run({ process, connect }: Invocation): Promise<Result> {
    const store = connect().createStore()
    let end: End | undefined
    async function* read(): AsyncGenerator<RegistrationToImport, void> {
      for await (const { line, number } of readLines(process)) {
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
      'The input is incomplete: the last line of "export", which has the number of lines, is missing or does not ' +
      'match. Import the whole output again.\n'
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
    throw new Error(`Line ${number} is not JSON: pass the output of "export"`)
  }
}

const isEnd = (parsed: RegistrationToImport | End): parsed is End => (parsed as Partial<End> | null)?.end === true
