import { postgresSchema, SCHEMA_VERSION } from '../postgres/schema.ts'
import { SCHEMA_VERSION as SQLITE_VERSION, sqliteSchema } from '../sqlite/schema.ts'
import type { Command, Invocation, Result } from './command.ts'

export const migrate: Command = {
  purpose: 'creates the tables if they are missing',
  details: 'Changes nothing if they exist. Creates the file of a SQLite database if it is missing.',
  options: { '--print': 'only prints the SQL that creates the tables; needs no database' },
  example: '--database registrations.db',
  async run({ flags, target, connect }: Invocation): Promise<Result> {
    // With --print, the command does not connect, so it needs no address. By default, the SQL is for PostgreSQL.
    const place = target(flags.has('print') ? 'postgres://' : undefined)
    if (flags.has('print')) {
      const sql = place.kind === 'postgres' ? postgresSchema({ schema: place.schema }) : sqliteSchema()
      return { text: sql, data: { sql } }
    }
    const database = connect({ mayCreate: true })
    const before = await database.readVersion()
    await database.migrate()
    const version = place.kind === 'postgres' ? SCHEMA_VERSION : SQLITE_VERSION
    const did =
      before === version
        ? 'Nothing to do: the tables exist'
        : before === 0
          ? 'Created the tables'
          : `Changed the tables from version ${before}`
    return { text: `${did}, in version ${version}.\n`, data: { version, before } }
  },
}
