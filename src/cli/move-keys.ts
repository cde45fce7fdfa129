import type { StoredKeyRecord } from '../keys/key-record.ts'
import { type Command, type Invocation, type Result, readLines } from './command.ts'
import { plural, toJson } from './text.ts'

export const exportKeys: Command = {
  purpose: 'writes the records of all keys, which contain hashes but no keys, as lines of JSON',
  async run({ connect, write }: Invocation): Promise<undefined> {
    const database = connect()
    const store = database.createKeyStore()
    for (const owner of await database.listOwners()) {
      for (const record of await store.listKeys(owner)) await write(`${toJson(record)}\n`)
    }
    return undefined
  },
}

export const importKeys: Command = {
  purpose:
    'reads the output of "keys export" from standard input and adds its keys. Existing keys that are revoked there ' +
    'are revoked here too',
  async run({ surroundings, connect }: Invocation): Promise<Result> {
    const keys = connect().createKeyStore()
    let [added, existing] = [0, 0]
    for await (const line of readLines(surroundings)) {
      const record = parse(line, added + existing + 1)
      if (await keys.addKey(record)) added += 1
      else {
        existing += 1
        if (record.revokedAt) await keys.revokeKey(record.hash)
      }
    }
    const text = `Added ${plural(added, 'key', 'keys')}; ${existing} existed already.\n`
    return { text, data: { added, existing } }
  },
}

function parse(line: string, number: number): StoredKeyRecord {
  try {
    const record = JSON.parse(line)
    const { createdAt, revokedAt, expiresAt } = record
    return { ...record, createdAt: toDate(createdAt), revokedAt: toDate(revokedAt), expiresAt: toDate(expiresAt) }
  } catch {
    throw new Error(`Line ${number} is not a key record: pass the output of "keys export"`)
  }
}

/** @throws {TypeError} if a date is not in the format of `toISOString`. */
function toDate(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const date = new Date(value)
  if (date.toJSON() !== value) throw new TypeError(`${value} is not a date`)
  return date
}
