import { generateApiKey, hashApiKey, parseApiKey } from '../keys/api-key.ts'
import { SCOPES } from '../keys/key-context.ts'
import type { KeyOwner, StoredKeyRecord } from '../keys/key-record.ts'
import type { ManagedKeyStore } from '../keys/key-store.ts'
import { readIsoTime } from '../time/iso-time.ts'
import {
  type Command,
  confirm,
  confirmOption,
  type Invocation,
  type ProgramProcess,
  type Result,
  readInput,
  readLines,
  requireValue,
  UsageError,
  type Values,
} from './command.ts'
import type { OpenDatabase } from './database.ts'
import { page, plural, toJson, toLine, toTable } from './text.ts'

const ownerOptions = {
  '--team <id>': 'the team that owns the key',
  '--organization <id>': 'the organization that owns the key',
}
const newKeyOptions = {
  '--expires <date>': 'when the key expires; default never',
  '--prefix <letters>': 'what the key begins with; default svc',
}

/** The word of commands about one key: its hash, or `-` to read the key itself from standard input. */
const HASH = '<hash>'
const HASH_DETAILS = 'Pass "-" instead of the hash to send the key itself to standard input.'

/** How long the old key still works after a rotation, in milliseconds. */
const OVERLAP_OF_KEYS = 7 * 24 * 60 * 60 * 1000

/** @throws {UsageError} unless exactly one owner was passed. */
function readOwner({ team, organization }: Values): KeyOwner {
  if ((team === undefined) === (organization === undefined))
    throw new UsageError('Pass either --team ID or --organization ID')
  const type = team === undefined ? 'organization' : 'team'
  return { type, ownerId: toOwnerId(team ?? organization ?? '') }
}

/** API keys contain only digits as the ID of their owner, so a UUID stands in them as the number that it is. */
function toOwnerId(id: string): string {
  if (/^[0-9]+$/.test(id)) return id
  if (/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(id)) return String(BigInt(`0x${id.replaceAll('-', '')}`))
  throw new UsageError(
    `An owner of API keys must have an ID of digits or a UUID. For other IDs, see ${page('authentication.md')}`,
  )
}

/** @throws {UsageError} if the date is invalid. */
function readDate(text: string, option: string): Date {
  const [, day = ''] = /^(\d{4}-\d\d-\d\d)(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/.exec(text) ?? []
  const date = new Date(text)
  if (!readIsoTime(`${day}T00:00:00.000Z`) || Number.isNaN(date.getTime()))
    throw new UsageError(`--${option} must be a date such as 2030-12-31 or 2030-12-31T12:00:00Z`)
  return date
}

function readExpiry({ expires }: Values): Date | null {
  if (expires === undefined) return null
  const date = readDate(expires, 'expires')
  if (date.getTime() <= Date.now()) throw new UsageError('--expires is in the past')
  return date
}

export const createKey: Command = {
  purpose: 'makes a key and prints it once',
  options: {
    ...ownerOptions,
    '--scopes <list>': `what the key may do: any of ${SCOPES.join(', ')}, separated by commas; default ${SCOPES[0]}`,
    '--label <text>': 'a name for the key',
    ...newKeyOptions,
  },
  example: '--team 7 --label "CI of Ann"',
  async run({ values, connect }: Invocation): Promise<Result> {
    const { type, ownerId } = readOwner(values)
    const scopes = (values.scopes ?? 'domains:create').split(',')
    if (!scopes.every(scope => SCOPES.some(known => known === scope)))
      throw new UsageError(`--scopes must be one or more of ${SCOPES.join(', ')}, separated by commas`)
    const expiresAt = readExpiry(values)
    const { label = null, prefix } = values
    const { key, hash, hint } = await generateApiKey({ type, id: ownerId, prefix })
    await connect().createKeyStore().addKey({ hash, hint, type, ownerId, scopes, label, expiresAt })
    return { text: showOnce(key, hash), data: { key, hash, hint, type, ownerId, scopes, label, expiresAt } }
  },
}

const showOnce = (key: string, hash: string) =>
  `${key}\n\nThis is the only time that the key is shown. Its hash is ${hash}.\n`

export const rotateKey: Command = {
  words: HASH,
  purpose: 'makes a new key with the same owner, scopes and label; the old key expires in a week',
  details: `An old key that expires earlier keeps its date. ${HASH_DETAILS}`,
  options: newKeyOptions,
  example: '- < key.txt',
  async run({ values, operands, process, connect, explain }: Invocation): Promise<Result> {
    const newExpiry = readExpiry(values)
    const oldHash = await readHash(operands, process)
    const keys = connect().createKeyStore()
    const old = await keys.findKey(oldHash)
    if (!old) return unknownKey(oldHash)
    const end = new Date(Date.now() + OVERLAP_OF_KEYS)
    const oldExpiry = old.expiresAt && old.expiresAt < end ? old.expiresAt : end
    if (old.revokedAt || oldExpiry.getTime() <= Date.now())
      throw new Error(`The key is ${old.revokedAt ? 'revoked' : 'expired'}: make a new one with "keys create"`)
    const { type, ownerId, scopes, label } = old
    const prefix = values.prefix ?? old.hint?.split('_')[0]
    const { key, hash, hint } = await generateApiKey({ type, id: ownerId, prefix })
    const record = { hash, hint, type, ownerId, scopes, label, expiresAt: newExpiry }
    await keys.addKey(record)
    // From here on the new key is valid, so it is shown whatever happens to the old one.
    let failure: string | undefined
    try {
      const isFound = await keys.updateKey(oldHash, { expiresAt: oldExpiry })
      if (!isFound) failure = 'it is no longer in the database'
    } catch (error) {
      failure = explain(error)
    }
    const outcome =
      failure === undefined
        ? `The old key, ${toLine(old.hint ?? oldHash)}, expires at ${oldExpiry.toISOString()}.\n`
        : `The old key could not be changed (${failure}). To let it expire:\n` +
          `domain-registration keys expire ${oldHash} --at ${oldExpiry.toISOString()}\n`
    const expiresAtNow = failure === undefined ? oldExpiry : old.expiresAt
    return {
      text: showOnce(key, hash) + outcome,
      data: { key, ...record, old: { hash: oldHash, hint: old.hint, expiresAt: expiresAtNow, failure } },
      isWrong: failure !== undefined,
    }
  },
}

/** Yields the keys of an owner, or all keys. */
async function* eachKey(database: OpenDatabase, owner?: KeyOwner): AsyncGenerator<StoredKeyRecord, void> {
  const store = database.createKeyStore()
  for (const each of owner ? [owner] : await database.listOwners()) yield* await store.listKeys(each)
}

export const listKeys: Command = {
  purpose: "lists all keys, or an owner's keys",
  options: { '--team <id>': 'only the keys of this team', '--organization <id>': 'only the keys of this organization' },
  example: '--team 7',
  async run({ values, connect }: Invocation): Promise<Result> {
    const owner = values.team === undefined && values.organization === undefined ? undefined : readOwner(values)
    const keys: StoredKeyRecord[] = []
    for await (const key of eachKey(connect(), owner)) keys.push(key)
    return { text: toKeyTable(keys), data: keys }
  },
}

function toKeyTable(keys: readonly StoredKeyRecord[]): string {
  const heads = ['HASH', 'OWNER', 'HINT', 'LABEL', 'SCOPES', 'CREATED', 'STATE']
  const rows = keys.map(key => [
    key.hash,
    `${key.type} ${key.ownerId}`,
    ...[key.hint, key.label, key.scopes.join(), key.createdAt, stateOf(key)],
  ])
  return toTable(heads, rows, 'No keys.')
}

function stateOf({ revokedAt, expiresAt }: StoredKeyRecord): string {
  if (revokedAt) return `revoked ${revokedAt.toISOString()}`
  if (!expiresAt) return 'valid'
  return `${expiresAt.getTime() <= Date.now() ? 'expired' : 'valid until'} ${expiresAt.toISOString()}`
}

export const whoseKey: Command = {
  words: HASH,
  purpose: 'shows who owns a key, and whether it is valid',
  details: HASH_DETAILS,
  example: '- < found.txt',
  async run({ operands, process, connect }: Invocation): Promise<Result> {
    const hash = await readHash(operands, process)
    const key = await connect().createKeyStore().findKey(hash)
    return key ? { text: toKeyTable([key]), data: key } : unknownKey(hash)
  },
}

/** Reads the hash of a key. A key itself is read only from standard input, because shells record arguments. */
async function readHash([hash = '']: readonly string[], process: ProgramProcess): Promise<string> {
  if (hash === '-') {
    const [key = '', ...others] = await readInput(process)
    if (others.length > 0 || !/_(?:org|team)_/.test(key))
      throw new UsageError('Standard input must contain exactly one API key')
    return hashApiKey(key)
  }
  if (/^[0-9a-f]{64}$/.test(hash)) return hash
  if (parseApiKey(hash) === null) throw new UsageError('A hash must have 64 hex digits')
  throw new UsageError('This is a key. Pass its hash, or pass "-" and send the key to standard input')
}

const unknownKey = (hash: string): Result => ({
  text: 'There is no key with this hash.\n',
  data: { hash, found: false },
  isWrong: true,
})

export const expireKey: Command = {
  words: HASH,
  purpose: 'makes a key expire at a date',
  details: HASH_DETAILS,
  options: { '--at <date>': 'the date; "never" removes it' },
  example: '- --at 2030-12-31 < key.txt',
  async run({ values, operands, process, connect }: Invocation): Promise<Result> {
    const text = requireValue(values, 'at', 'with a date, or --at never')
    const at = text === 'never' ? null : readDate(text, 'at')
    const hash = await readHash(operands, process)
    if (!(await connect().createKeyStore().updateKey(hash, { expiresAt: at }))) return unknownKey(hash)
    const said = at ? `The key expires at ${at.toISOString()}.\n` : 'The key does not expire.\n'
    return { text: said, data: { hash, expiresAt: at } }
  },
}

export const revokeKeys: Command = {
  words: '[hash]',
  purpose: "revokes a key, or all of an owner's keys, at once; this cannot be undone",
  details: HASH_DETAILS,
  options: {
    ...ownerOptions,
    '--all': 'all keys of the team or the organization, after you type their number',
    ...confirmOption,
  },
  example: '--team 7 --all',
  async run(invocation: Invocation): Promise<Result> {
    const { values, flags, operands, process, connect } = invocation
    const isOwnerPassed = values.team !== undefined || values.organization !== undefined
    if (flags.has('all') !== isOwnerPassed || isOwnerPassed === operands.length > 0)
      throw new UsageError('Pass either the hash of a key, or --all and its owner: --team ID or --organization ID')
    if (!isOwnerPassed) {
      const hash = await readHash(operands, process)
      if (!(await connect().createKeyStore().revokeKey(hash))) return unknownKey(hash)
      return { text: 'The key is revoked.\n', data: { hash, revoked: true } }
    }
    const owner = readOwner(values)
    const keys = connect().createKeyStore()
    const unrevoked = (await keys.listKeys(owner)).filter(({ revokedAt }) => revokedAt === null)
    const which = `${plural(unrevoked.length, 'key', 'keys')} of ${owner.type} ${owner.ownerId}`
    if (unrevoked.length > 0) await confirm(invocation, `This revokes ${which}`, unrevoked.length)
    for (const { hash } of unrevoked) await keys.revokeKey(hash)
    return { text: `Revoked ${which}.\n`, data: { revoked: unrevoked.map(({ hash }) => hash) } }
  },
}

export const exportKeys: Command = {
  purpose: 'writes the records of all keys as lines of JSON',
  details: 'The records contain hashes, and never the keys themselves.',
  example: '> keys.ndjson',
  async run({ connect, write }: Invocation): Promise<undefined> {
    for await (const record of eachKey(connect())) await write(`${toJson(record)}\n`)
    return undefined
  },
}

export const importKeys: Command = {
  purpose: 'adds the keys that "keys export" wrote, from standard input',
  details: 'Existing keys do not change, except that keys that are revoked there are revoked here too.',
  example: '< keys.ndjson',
  async run({ process, connect }: Invocation): Promise<Result> {
    const keys = connect().createKeyStore()
    let [added, existing] = [0, 0]
    for await (const { line, number } of readLines(process)) {
      const record = readRecord(line, number)
      if (await add(keys, record, number)) added += 1
      else {
        existing += 1
        if (record.revokedAt) await keys.revokeKey(record.hash)
      }
    }
    const text = `Added ${plural(added, 'key', 'keys')}; ${existing} existed already.\n`
    return { text, data: { added, existing } }
  },
}

function readRecord(line: string, number: number): StoredKeyRecord {
  try {
    const record = JSON.parse(line)
    const { createdAt, revokedAt, expiresAt } = record
    return { ...record, createdAt: toDate(createdAt), revokedAt: toDate(revokedAt), expiresAt: toDate(expiresAt) }
  } catch {
    throw new Error(`Line ${number} is not a key record: pass the output of "keys export"`)
  }
}

/** @throws {TypeError} that names the line, if the key store rejects the record. */
async function add(keys: ManagedKeyStore, record: StoredKeyRecord, number: number): Promise<boolean> {
  try {
    return await keys.addKey(record)
  } catch (error) {
    throw error instanceof TypeError ? new TypeError(`Line ${number}: ${error.message}`, { cause: error }) : error
  }
}

/** @throws {TypeError} if a date is not in the format of `toISOString`. */
function toDate(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const date = readIsoTime(value)
  if (!date) throw new TypeError(`${value} is not a date`)
  return date
}
