import { postgresSchema, SCHEMA_VERSION } from '../postgres/schema.ts'
import { SCHEMA_VERSION as SQLITE_VERSION, sqliteSchema } from '../sqlite/schema.ts'
import type { Command, Invocation, Result } from './command.ts'

export const migrate: Command = {
  purpose: 'creates the tables if they are missing; --print only prints their SQL, and needs no database',
  flags: ['print'],
  async run({ flags, target, connect }: Invocation): Promise<Result> {
    // With --print, the command does not connect, so it needs no address. By default, the SQL is for PostgreSQL.
    const place = target(flags.has('print') ? 'postgres://' : undefined)
    if (flags.has('print')) {
      const sql = place.kind === 'postgres' ? postgresSchema({ schema: place.schema }) : sqliteSchema()
      return { text: sql, data: { sql } }
    }
    await connect({ mayCreate: true }).migrate()
    const version = place.kind === 'postgres' ? SCHEMA_VERSION : SQLITE_VERSION
    return { text: `The tables exist, in version ${version}.\n`, data: { version } }
  },
}
