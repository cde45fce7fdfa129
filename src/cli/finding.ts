/** What an examination has found. */
export interface Finding {
  readonly check: string
  /** A note is no fault. */
  readonly state: 'ok' | 'note' | 'wrong'
  readonly finding: string
  /** What to do. */
  readonly advice?: string
}

/** The version of the tables against the one that this package needs. */
export function compareVersions(version: number, needed: number): Finding {
  if (version === needed) return { check: 'tables', state: 'ok', finding: `there, in version ${version}` }
  const finding = `of version ${version}, and this package needs ${needed}`
  const advice =
    version > needed ? 'Install the newer version of the package here' : 'Run "domain-registration migrate"'
  return { check: 'tables', state: 'wrong', finding, advice }
}

export const noTables: Finding = {
  check: 'tables',
  state: 'wrong',
  finding: 'not there',
  advice: 'Run "domain-registration migrate" with a role that may create them; mind --schema',
}
