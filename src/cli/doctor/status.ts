import { existsSync, statSync } from 'node:fs'
import { suffixList } from '../../hostname/suffix-list.ts'
import { toTables } from '../../postgres/schema.ts'
import type { ManagedStore } from '../../store/managed-store.ts'
import type { Command, Invocation, Result } from '../command.ts'
import type { Target } from '../database.ts'
import { openHandle } from '../database.ts'
import { plural, toJson, toPrintable } from '../text.ts'
import { readVersion } from '../version.ts'
import { connectToPostgres, LOCKED } from './postgres-connection.ts'
import { readSizes, type Size, toSize } from './postgres-growth.ts'

/** Milliseconds between two screens of `--watch`. */
const PAUSE = 2000

export const status: Command = {
  purpose:
    'shows versions, sizes, and how many names, teams and pending changes there are; --watch repeats every two seconds',
  flags: ['watch'],
  async run({ flags, connect, target, write }: Invocation): Promise<Result> {
    const store = connect().createStore()
    for (;;) {
      const { text, data } = await look(store, target())
      if (!flags.has('watch')) return { text, data }
      await write(flags.has('json') ? `${toJson(data)}\n` : `${new Date().toISOString()}\n${text}\n`)
      await new Promise(resolve => setTimeout(resolve, PAUSE))
    }
  },
}

async function look(store: ManagedStore, target: Target): Promise<Result> {
  const { version, teams, sizes } = await readStored(target)
  const [names, { count, refused, oldest }] = [await store.count(), await store.pendingStats()]
  const [release, age] = [readVersion(), oldest ? `, the oldest since ${oldest.toISOString()}` : '']
  const text = toLines({
    package: release,
    'suffix list': `tldts ${suffixList.version}, published ${suffixList.published ?? 'on an unknown date'}`,
    tables: `version ${version ?? 'unknown'}`,
    names: `${names} of ${plural(teams, 'team', 'teams')}`,
    pending: `${plural(count, 'change', 'changes')}, ${refused} refused${age}`,
    size: sizes.map(describeSize).join(', '),
  })
  const pending = { count, refused, oldest }
  return { text, data: { package: release, suffixList, tables: version, names, teams, pending, sizes } }
}

const describeSize = ({ name, bytes, rebuilt }: Part): string =>
  `${toPrintable(name)} ${toSize(bytes)}${rebuilt === null ? '' : ` (rebuilt ${toSize(rebuilt)})`}`

const toLines = (facts: Readonly<Record<string, string>>): string =>
  Object.entries(facts)
    .map(([name, fact]) => `${name.padEnd(13)}${fact}\n`)
    .join('')

/** The size of a table with its indexes, or of a SQLite file. */
type Part = Pick<Size, 'name' | 'bytes' | 'rebuilt'>

interface Stored {
  readonly version: number | null
  readonly teams: number
  readonly sizes: readonly Part[]
}

/**
 * Counts the teams by jumping from one to the next in an index, so the time does not depend on how many names each team
 * has.
 */
const countTeams = (names: string) => `WITH RECURSIVE team(id) AS (
    SELECT min(team_id) FROM ${names}
    UNION ALL SELECT (SELECT min(team_id) FROM ${names} WHERE team_id > team.id) FROM team WHERE team.id IS NOT NULL
  ) SELECT count(id) AS teams FROM team`

async function readStored(target: Target): Promise<Stored> {
  if (target.kind === 'sqlite') return readFile(target.file)
  const { inTransaction, close } = await connectToPostgres(target.url)
  const { schema = 'domain_registration' } = target
  const { names, version } = toTables({ schema })
  try {
    return await inTransaction(async ask => {
      const [teams] = await ask<{ teams: string }>(countTeams(names))
      const [row] = await ask<{ version: number | null }>(`SELECT max(version) AS version FROM ${version}`)
      const sizes = addUp(await readSizes(ask, schema))
      return { version: row?.version ?? null, teams: Number(teams?.teams), sizes }
    })
  } catch (error) {
    if ((error as { code?: unknown }).code !== LOCKED) throw error
    throw new Error('A table is locked; "domain-registration doctor" shows which session holds the lock', {
      cause: error,
    })
  } finally {
    await close()
  }
}

/** Adds up the sizes of each table and its indexes. */
const addUp = (parts: readonly Size[]): Part[] =>
  [...new Set(parts.map(({ table }) => table))].map(name => {
    const own = parts.filter(({ table }) => table === name)
    const isKnown = own.every(({ rebuilt }) => rebuilt !== null)
    return {
      name,
      bytes: own.reduce((sum, { bytes }) => sum + bytes, 0),
      rebuilt: isKnown ? own.reduce((sum, { rebuilt }) => sum + (rebuilt ?? 0), 0) : null,
    }
  })

function readFile(file: string): Stored {
  const handle = openHandle(file)
  try {
    const [counted] = handle.prepare(countTeams('domain_registration_names')).all() as [{ teams: number }]
    const select = 'SELECT max(version) AS version FROM domain_registration_version'
    const [{ version }] = handle.prepare(select).all() as [{ version: number | null }]
    const sizes = [file, `${file}-wal`]
      .filter(existsSync)
      .map(name => ({ name, bytes: statSync(name).size, rebuilt: null }))
    return { version, teams: Number(counted.teams), sizes }
  } finally {
    handle.close()
  }
}
