/** What an examination has found. */
export interface Finding {
  readonly check: string
  /** A note is no fault. */
  readonly state: 'ok' | 'note' | 'wrong'
  readonly finding: string
  /** What to do. */
  readonly advice: string | undefined
}

const inState =
  (state: Finding['state']) =>
  (check: string, finding: string, advice?: string): Finding => ({ check, state, finding, advice })
export const ok = inState('ok')
export const note = inState('note')
export const wrong = inState('wrong')

/** @param check What finds no tables. */
export const noTables = (finding = 'not there', check = 'tables'): Finding =>
  wrong(check, finding, 'Run "domain-registration migrate" with a role that may create them; mind --schema')

/** The version of the tables against the one that this package needs. */
export function compareVersions(version: number, needed: number): Finding {
  if (version === needed) return ok('tables', `there, in version ${version}`)
  const advice =
    version > needed ? 'Install the newer version of the package here' : 'Run "domain-registration migrate"'
  return wrong('tables', `of version ${version}, and this package needs ${needed}`, advice)
}
