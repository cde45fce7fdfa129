import { generateApiKey, hashApiKey, parseApiKey } from '../keys/api-key.ts'
import { SCOPES } from '../keys/key-context.ts'
import type { KeyOwner, StoredKeyRecord } from '../keys/key-record.ts'
import {
  type Command,
  type Invocation,
  type Result,
  readInput,
  requireValue,
  UsageError,
  type Values,
} from './command.ts'
import { toTable } from './text.ts'

const owner = ['team', 'organization']

/** @throws {UsageError} unless exactly one owner was passed. */
function readOwner({ team, organization }: Values): KeyOwner {
  if ((team === undefined) === (organization === undefined))
    throw new UsageError('Pass --team or --organization with an ID')
  const ownerId = team ?? organization ?? ''
  if (!/^[0-9]+$/.test(ownerId)) throw new UsageError('The ID of an owner of API keys is a string of digits')
  return { type: team === undefined ? 'organization' : 'team', ownerId }
}

/** @throws {UsageError} for what is no date. */
function readDate(text: string, option: string): Date {
  const date = new Date(text)
  if (!/^\d{4}-\d\d-\d\d/.test(text) || Number.isNaN(date.getTime()))
    throw new UsageError(`--${option} must be a date such as 2030-12-31 or 2030-12-31T12:00:00Z`)
  return date
}

export const createKey: Command = {
  synopsis: '--team ID | --organization ID',
  purpose: 'makes a key and prints it once; --scopes, --label, --expires, --prefix',
  options: [...owner, 'scopes', 'label', 'expires', 'prefix'],
  async run({ values, connect }: Invocation): Promise<Result> {
    const { type, ownerId } = readOwner(values)
    const scopes = (values.scopes ?? 'domains:create').split(',')
    if (!scopes.every(scope => SCOPES.some(known => known === scope)))
      throw new UsageError(`--scopes is a list with commas, of ${SCOPES.join(', ')}`)
    const expiresAt = values.expires === undefined ? null : readDate(values.expires, 'expires')
    if (expiresAt && expiresAt.getTime() <= Date.now()) throw new UsageError('--expires is in the past')
    const { label = null, prefix } = values
    const { key, hash, hint } = await generateApiKey({ type, id: ownerId, prefix })
    const keys = connect().createKeyStore()
    await keys.addKey({ hash, hint, type, ownerId, scopes, label, expiresAt })
    const text = `${key}\n\nThis is the only time that the key is shown. Its hash is ${hash}.\n`
    return { text, data: { key, hash, hint, type, ownerId, scopes, label, expiresAt } }
  },
}

export const listKeys: Command = {
  synopsis: '--team ID | --organization ID',
  purpose: "lists an owner's keys: hash, hint, label, scopes, dates",
  options: owner,
  async run({ values, connect }: Invocation): Promise<Result> {
    const keys = await connect().createKeyStore().listKeys(readOwner(values))
    const heads = ['HASH', 'HINT', 'LABEL', 'SCOPES', 'CREATED', 'STATE']
    const rows = keys.map(key => [key.hash, key.hint, key.label, key.scopes.join(), key.createdAt, stateOf(key)])
    return { text: toTable(heads, rows, 'No keys.'), data: keys }
  },
}

function stateOf({ revokedAt, expiresAt }: StoredKeyRecord): string {
  if (revokedAt) return `revoked ${revokedAt.toISOString()}`
  if (!expiresAt) return 'valid'
  return `${expiresAt.getTime() <= Date.now() ? 'expired' : 'valid until'} ${expiresAt.toISOString()}`
}

/** The hash of a key. The key itself is read from the standard input, where no history of a shell keeps it. */
async function readHash(operands: readonly string[]): Promise<string> {
  const [hash] = operands as [string]
  if (hash === '-') {
    const [key = ''] = await readInput()
    if (key === '' || !/_(?:org|team)_/.test(key)) throw new UsageError('The standard input must be one API key')
    return hashApiKey(key)
  }
  if (/^[0-9a-f]{64}$/.test(hash)) return hash
  const isKey = parseApiKey(hash) !== null
  throw new UsageError(
    isKey ? 'That is a key. Pass its hash, or "-" and the key on the standard input' : 'A hash has 64 hex digits',
  )
}

export const expireKey: Command = {
  synopsis: 'HASH|- --at DATE',
  words: { least: 1, most: 1 },
  purpose: 'refuses a key from a date on; --at never takes the date away',
  options: ['at'],
  async run({ values, operands, connect }: Invocation): Promise<Result> {
    const text = requireValue(values, 'at', 'with a date, or --at never')
    const at = text === 'never' ? null : readDate(text, 'at')
    const hash = await readHash(operands)
    if (!(await connect().createKeyStore().updateKey(hash, { expiresAt: at }))) return unknownKey(hash)
    const said = at ? `The key expires at ${at.toISOString()}.\n` : 'The key does not expire.\n'
    return { text: said, data: { hash, expiresAt: at } }
  },
}

export const revokeKey: Command = {
  synopsis: 'HASH|-',
  words: { least: 1, most: 1 },
  purpose: 'refuses a key from now on',
  async run({ operands, connect }: Invocation): Promise<Result> {
    const hash = await readHash(operands)
    if (!(await connect().createKeyStore().revokeKey(hash))) return unknownKey(hash)
    return { text: 'The key is revoked.\n', data: { hash, revoked: true } }
  },
}

const unknownKey = (hash: string): Result => ({
  text: 'There is no key with this hash.\n',
  data: { hash, found: false },
  isWrong: true,
})
