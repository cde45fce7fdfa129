import { postgresSchema, SCHEMA_VERSION } from '../postgres/schema.ts'
import { SCHEMA_VERSION as SQLITE_VERSION, sqliteSchema } from '../sqlite/schema.ts'
import { type Call, type Command, NO_WORDS, type Result } from './command.ts'

export const migrate: Command = {
  synopsis: '',
  words: NO_WORDS,
  purpose: 'creates the tables if they are missing; --print only prints their SQL',
  options: { print: { type: 'boolean' } },
  async run({ values, target, connect }: Call): Promise<Result> {
    const place = target()
    if (values.print) {
      const sql = place.kind === 'postgres' ? postgresSchema({ schema: place.schema }) : sqliteSchema()
      return { text: sql, data: { sql } }
    }
    await (await connect({ mayCreate: true })).migrate()
    const version = place.kind === 'postgres' ? SCHEMA_VERSION : SQLITE_VERSION
    return { text: `The tables are there, in version ${version}.\n`, data: { version } }
  },
}
