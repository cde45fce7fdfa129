import type { Awaitable } from '../time/awaitable.ts'

/** What a check of the doctor found. Only `wrong` changes the exit code. */
export interface Finding {
  readonly state: 'ok' | 'note' | 'wrong'
  readonly finding: string
  /** What to do. */
  readonly advice: string | undefined
  /** The SQL that the advice says to run: one statement in each string. */
  readonly sql: readonly string[] | undefined
}

/** Something that the doctor looks at. If a check finds a problem or throws, the checks after it do not run. */
type Check = readonly [name: string, look: () => Findings | Promise<Findings>]
type Findings = Finding | readonly Finding[]

export interface Examination {
  readonly checks: readonly Check[]
  close(): void | Promise<void>
}

const inState =
  (state: Finding['state']) =>
  (finding: string, advice?: string, sql?: readonly string[]): Finding => ({ state, finding, advice, sql })
export const ok = inState('ok')
export const note = inState('note')
export const wrong = inState('wrong')

/**
 * Compares the version of the tables with the version that this package needs. Returns nothing if the versions match.
 */
export function compareVersions(version: number, needed: number): Finding | undefined {
  if (version === needed) return undefined
  const advice =
    version > needed ? 'Install the newer version of the package here' : 'Run "domain-registration migrate"'
  return wrong(`version ${version}, but this package needs version ${needed}`, advice)
}

/** A table, or a part of a table, as the database itself describes it. */
export interface Part {
  readonly table: string
  readonly kind: 'table' | 'column' | 'primary key' | 'constraint' | 'index' | 'trigger' | 'rule'
  readonly name: string
  /** Two parts of the same kind in the same table are equal if their definitions are equal. */
  readonly definition: string
}

/**
 * Compares the parts that `migrate` would create with those that exist. Among what the application has added, only what
 * may change, skip or refuse a row gets a note.
 */
export function compareParts(expected: readonly Part[], actual: readonly Part[], version: number): readonly Finding[] {
  const different = [...findDrift(expected, actual)]
  const isExpected = (part: Part) =>
    expected.some(
      ({ table, kind, name, definition }) =>
        table === part.table && kind === part.kind && (name === part.name || definition === part.definition),
    )
  const added = actual.filter(
    part => expected.some(({ table }) => table === part.table) && mayRefuse(part) && !isExpected(part),
  )
  const constraints = new Set(added.filter(({ kind }) => kind === 'constraint').map(({ name }) => name))
  // A unique constraint has an index of the same name.
  const noted = added.filter(({ kind, name }) => kind !== 'index' || !constraints.has(name))
  return [
    ...(different.length > 0 ? different : [ok(`version ${version}, as migrate creates them`)]),
    ...noted.map(({ table, kind, name }) =>
      note(
        `${table}: the ${kind} "${name}" is not from this package`,
        'Make sure that it never changes, skips or refuses a row',
      ),
    ),
  ]
}

const mayRefuse = ({ kind, definition }: Part): boolean =>
  ['trigger', 'rule', 'constraint'].includes(kind) || (kind === 'index' && /^(?:CREATE )?UNIQUE/i.test(definition))

function* findDrift(expected: readonly Part[], actual: readonly Part[]): Generator<Finding> {
  const missing = new Set<string>()
  for (const { table, kind, name, definition } of expected) {
    const alike = actual.filter(part => table === part.table && kind === part.kind)
    if (missing.has(table) || alike.some(part => part.definition === definition)) continue
    // A table has at most one primary key, whatever its name.
    const found = alike.find(part => part.name === name) ?? (kind === 'primary key' ? alike[0] : undefined)
    if (kind === 'table' && !found) {
      missing.add(table)
      yield wrong(`the table "${name}" is missing`, 'Restore a backup: in an empty table, names would be free again')
    } else {
      const place = kind === 'table' ? '' : `${table}: `
      const difference = found ? `differs: ${found.definition}` : 'is missing'
      const expectation = definition === '' ? '' : `; expected: ${definition}`
      yield wrong(`${place}the ${kind} "${name}" ${difference}${expectation}`, AS_CREATED)
    }
  }
}

const AS_CREATED = 'As the owner of the tables, make it what "domain-registration migrate --print" shows'

/** The team of the trial rows, unless a team has registrations: then its ID satisfies the application's constraints. */
export const TRIAL_TEAM = '#doctor'

/**
 * Runs statements that save, change and delete rows which no call could create.
 *
 * @param run Returns how many rows a statement concerned, or `null` if it concerns none.
 */
export async function tryStatements(
  statements: readonly string[],
  run: (sql: string) => Awaitable<number | null>,
): Promise<Finding> {
  for (const sql of statements) if ((await run(sql)) === 0) return noEffect(sql)
  return ok('rows can be saved, changed and deleted (this was rolled back)')
}

const noEffect = (sql: string): Finding =>
  wrong(
    `${sql.replace(/^\s*(\w+(?: INTO| FROM)? \S+).*/s, '$1')} has no effect: a trigger or a rule skips the row`,
    'Let the trigger return the row, or drop it',
  )
