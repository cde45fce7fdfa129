import { type Target, UsageError, type Values } from './command.ts'

/**
 * Reads `--database` and `--schema`.
 *
 * @throws {UsageError} that never shows the address: it may hold a password.
 */
export function readTarget({ database, schema }: Values, environment: NodeJS.ProcessEnv): Target {
  const address = database ?? environment.DATABASE_URL
  if (!address) {
    throw new UsageError(
      'Pass --database postgres://user:password@machine/name or --database file.db, or set DATABASE_URL',
    )
  }
  if (/^postgres(?:ql)?:\/\//.test(address)) return { kind: 'postgres', url: address, schema }
  if (/^[a-z][a-z+.-]+:/i.test(address)) {
    throw new UsageError('The database must be an address that begins with "postgres://", or the path of a SQLite file')
  }
  if (schema !== undefined) throw new UsageError('--schema is for PostgreSQL; SQLite has no schemas')
  return { kind: 'sqlite', file: address }
}

/** The parts of an address that no output may show. */
export function findSecrets(environment: NodeJS.ProcessEnv, parameters: readonly string[]): string[] {
  return [environment.PGPASSWORD, ...[environment.DATABASE_URL, ...parameters].flatMap(findPasswords)].filter(
    secret => secret !== undefined && secret !== '',
  ) as string[]
}

/** Of an address alone, or behind the name of its option. In the spelling of the address, and decoded. */
function findPasswords(text: string | undefined): string[] {
  const [, beforeMachine] = /:\/\/[^/@:]*:([^@]*)@/.exec(text ?? '') ?? []
  const [, inQuery] = /[?&]password=([^&]*)/.exec(text ?? '') ?? []
  return [beforeMachine, inQuery].flatMap(secret => (secret === undefined ? [] : [secret, decode(secret)]))
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
