/** What a check of the doctor found. Only `wrong` changes the exit code. */
export interface Finding {
  readonly state: 'ok' | 'note' | 'wrong'
  readonly finding: string
  /** What to do. */
  readonly advice: string | undefined
  /** The SQL that the advice says to run, in this order: one statement in each string. */
  readonly sql: readonly string[] | undefined
}

/** Something that the doctor looks at. If a check finds a problem or throws, the checks after it do not run. */
export type Check = readonly [name: string, look: () => Findings | Promise<Findings>]
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
  readonly kind: 'table' | 'column' | 'primary key' | 'constraint' | 'index'
  readonly name: string
  /** Two parts of the same kind in the same table are equal if their definitions are equal. */
  readonly definition: string
}

/**
 * Yields a finding for each part that `migrate` would create, and that is missing or different. What the application
 * has added to the tables does not count.
 *
 * @param mend Returns the advice, and the SQL that turns `found`, or nothing, into `part`.
 */
export function* findDrift<P extends Part>(
  expected: readonly P[],
  actual: readonly P[],
  mend: (part: P, found: P | undefined) => readonly [advice: string, sql: readonly string[]],
): Generator<Finding> {
  const mended = new Set<string>()
  for (const part of expected) {
    const alike = actual.filter(({ table, kind }) => table === part.table && kind === part.kind)
    if (mended.has(part.table) || alike.some(({ definition }) => definition === part.definition)) continue
    // A table has at most one primary key, whatever its name.
    const found = alike.find(({ name }) => name === part.name) ?? (part.kind === 'primary key' ? alike[0] : undefined)
    // The SQL that mends a table mends its parts too.
    if (part.kind === 'table') mended.add(part.table)
    const place = part.kind === 'table' ? '' : `${part.table}: `
    const problem = found ? `differs from what migrate creates: ${found.definition}` : 'is missing'
    yield wrong(`${place}the ${part.kind} "${part.name}" ${problem}`, ...mend(part, found))
  }
}
