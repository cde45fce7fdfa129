/** A finding of the doctor. */
export interface Finding {
  readonly check: string
  /** Only `wrong` changes the exit code. */
  readonly state: 'ok' | 'note' | 'wrong'
  readonly finding: string
  /** What to do. */
  readonly advice: string | undefined
  /** The SQL that the advice says to run, in this order: one statement in each string. */
  readonly sql?: readonly string[] | undefined
}

const inState =
  (state: Finding['state']) =>
  (check: string, finding: string, advice?: string, sql?: readonly string[]): Finding => ({
    check,
    state,
    finding,
    advice,
    sql,
  })
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
  return wrong('tables', `version ${version}, but this package needs version ${needed}`, advice)
}
