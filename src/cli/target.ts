import { type Surroundings, type Target, UsageError, type Values } from './command.ts'

/**
 * Reads `--database` and `--schema`.
 *
 * @param otherwise The address to use if neither the option nor the environment contains an address.
 * @throws {UsageError} if the address is missing or invalid. The message never shows the address, which may contain a
 *   password.
 */
export function readTarget({ database, schema }: Values, environment: Surroundings['env'], otherwise?: string): Target {
  const address = database ?? environment.DATABASE_URL ?? otherwise
  if (!address) {
    throw new UsageError(
      'Pass --database postgres://user:password@machine/name or --database file.db, or set DATABASE_URL',
    )
  }
  if (/^postgres(?:ql)?:\/\//.test(address)) {
    if (slashInPassword.test(address)) throw new UsageError('Write a "/" in the password of the address as %2F')
    return { kind: 'postgres', url: address, schema }
  }
  if (keyWords.test(address)) {
    throw new UsageError(
      'The database must be an address such as postgres://user:password@machine/name, not libpq keywords',
    )
  }
  if (/^[a-z][a-z+.-]+:/i.test(address) || hasPassword(address)) {
    throw new UsageError('The database must be an address that begins with "postgres://", or the path of a SQLite file')
  }
  if (schema !== undefined) throw new UsageError('--schema is for PostgreSQL; SQLite has no schemas')
  return { kind: 'sqlite', file: address }
}

/**
 * Matches a slash in a password. The slash would end the host, so a part of the password would be taken for the host,
 * which messages show.
 */
const slashInPassword = /^[a-z]+:\/\/[^?#/]*\/[^?#]*@/

/** Matches the form "host=db user=me password=…", which would otherwise be read as the path of a SQLite file. */
const keyWords = /(?:^|\s)(?:host|hostaddr|port|dbname|user|password|passfile|service|sslmode)\s*=/i

/**
 * Whether the text looks like an address that has a password but lacks "postgres://", and not like the path of a file.
 * A Windows path begins with a drive, such as `C:\`.
 */
const hasPassword = (address: string) =>
  !/^[a-z]:[\\/]/i.test(address) && address.includes(':') && address.lastIndexOf('@') > address.indexOf(':')

/** Finds the passwords that output must not show, in the environment and the parameters. */
export function findSecrets(environment: Surroundings['env'], parameters: readonly string[]): string[] {
  return [environment.PGPASSWORD, ...[environment.DATABASE_URL, ...parameters].flatMap(findPasswords)].filter(
    secret => secret !== undefined && secret !== '',
  ) as string[]
}

/**
 * Finds the passwords in one parameter, such as an address, or an option with an address. Returns each password twice:
 * as written, and decoded.
 */
function findPasswords(text = ''): string[] {
  // An unencoded password may contain any character, so it ends at the last "@".
  const [, , afterColon = ''] = /:\/\/([^:]*):(.*)/s.exec(text) ?? []
  const beforeMachine = afterColon.slice(0, Math.max(0, afterColon.lastIndexOf('@')))
  const [, named] = /password\s*=\s*'?([^&'\s]*)/i.exec(text) ?? []
  return [beforeMachine, named].flatMap(secret => (secret ? [secret, decode(secret)] : []))
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
