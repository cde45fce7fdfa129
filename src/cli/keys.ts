import { readFileSync } from 'node:fs'
import { generateApiKey, hashApiKey, parseApiKey } from '../keys/api-key.ts'
import { SCOPES } from '../keys/key-context.ts'
import type { KeyOwner, StoredKeyRecord } from '../keys/key-record.ts'
import { type Command, type Invocation, type Result, readInput, requireValue, type Surroundings } from './command.ts'
import { UsageError, type Values } from './database.ts'
import { toTable } from './text.ts'

const ownerOptions = ['team', 'organization']

/** How long the old key still works after a rotation, in milliseconds. */
const OVERLAP_OF_KEYS = 7 * 24 * 60 * 60 * 1000

/** @throws {UsageError} unless exactly one owner was passed. */
function readOwner({ team, organization }: Values): KeyOwner {
  if ((team === undefined) === (organization === undefined))
    throw new UsageError('Pass either --team ID or --organization ID')
  const ownerId = team ?? organization ?? ''
  if (!/^[0-9]+$/.test(ownerId)) throw new UsageError('The owner ID must be a string of digits')
  return { type: team === undefined ? 'organization' : 'team', ownerId }
}

/** @throws {UsageError} if the date is invalid. */
function readDate(text: string, option: string): Date {
  const [, day = ''] = /^(\d{4}-\d\d-\d\d)(?:T[\d:.]+(?:Z|[+-]\d\d:\d\d))?$/.exec(text) ?? []
  // Rejects days that do not exist: `Date` would read "2030-02-31" as a day in March.
  const isDay = new Date(day).toJSON()?.startsWith(day)
  const date = new Date(text)
  if (!isDay || Number.isNaN(date.getTime()))
    throw new UsageError(`--${option} must be a date such as 2030-12-31 or 2030-12-31T12:00:00Z`)
  return date
}

export const createKey: Command = {
  synopsis: '--team ID | --organization ID',
  purpose:
    'makes a key and prints it once. Options: --scopes, --label, --expires, --prefix. With --teams FILE, makes a key ' +
    'only for a team in the file',
  options: [...ownerOptions, 'scopes', 'label', 'expires', 'prefix', 'teams'],
  async run({ values, surroundings, connect }: Invocation): Promise<Result> {
    const { type, ownerId } = readOwner(values)
    const scopes = (values.scopes ?? 'domains:create').split(',')
    if (!scopes.every(scope => SCOPES.some(known => known === scope)))
      throw new UsageError(`--scopes must be one or more of ${SCOPES.join(', ')}, separated by commas`)
    const expiresAt = readExpiry(values)
    const { label = null, prefix } = values
    const { key, hash, hint } = await generateApiKey({ type, id: ownerId, prefix })
    if (type === 'organization' && values.teams) throw new UsageError('--teams cannot be combined with --organization')
    const teams = await readTeams(values, surroundings)
    if (teams && !teams.has(ownerId)) throw new Error(`The --teams file does not contain team ${ownerId}`)
    const keys = connect().createKeyStore()
    await keys.addKey({ hash, hint, type, ownerId, scopes, label, expiresAt })
    return { text: showOnce(key, hash), data: { key, hash, hint, type, ownerId, scopes, label, expiresAt } }
  },
}

function readExpiry({ expires }: Values): Date | null {
  if (expires === undefined) return null
  const date = readDate(expires, 'expires')
  if (date.getTime() <= Date.now()) throw new UsageError('--expires is in the past')
  return date
}

/** Reads the IDs of the application's teams, one on each line, from the file that `--teams` names. */
async function readTeams(
  { teams: file }: Values,
  surroundings: Surroundings,
): Promise<ReadonlySet<string> | undefined> {
  if (file === undefined) return undefined
  const lines = file === '-' ? await readInput(surroundings) : readFileSync(file, 'utf8').split('\n')
  const ids = lines.map(line => line.trim()).filter(line => line !== '')
  if (ids.length === 0 || !ids.every(id => /^\d+$/.test(id)))
    throw new Error('The --teams file must contain team IDs, one per line, digits only')
  return new Set(ids)
}

const showOnce = (key: string, hash: string) =>
  `${key}\n\nThis is the only time that the key is shown. Its hash is ${hash}.\n`

export const rotateKey: Command = {
  synopsis: 'HASH|-',
  words: { least: 1, most: 1 },
  purpose:
    'makes a new key with the same owner, scopes and label. The old key expires in a week. ' +
    'Options: --expires, --prefix',
  options: ['expires', 'prefix'],
  async run({ values, operands, surroundings, connect }: Invocation): Promise<Result> {
    const expiresAt = readExpiry(values)
    const oldHash = await readHash(operands, surroundings)
    const keys = connect().createKeyStore()
    const old = await keys.findKey(oldHash)
    if (!old) return unknownKey(oldHash)
    const end = new Date(Date.now() + OVERLAP_OF_KEYS)
    const oldExpiresAt = old.expiresAt && old.expiresAt < end ? old.expiresAt : end
    if (old.revokedAt || oldExpiresAt.getTime() <= Date.now())
      throw new Error(`The key is ${old.revokedAt ? 'revoked' : 'expired'}: make a new one with "keys create"`)
    const { type, ownerId, scopes, label } = old
    const prefix = values.prefix ?? old.hint?.split('_')[0]
    const { key, hash, hint } = await generateApiKey({ type, id: ownerId, prefix })
    await keys.addKey({ hash, hint, type, ownerId, scopes, label, expiresAt })
    await keys.updateKey(oldHash, { expiresAt: oldExpiresAt })
    const rows = [
      ['new', hint, expiresAt ?? 'never'],
      ['old', old.hint, oldExpiresAt],
    ]
    const data = { key, hash, hint, type, ownerId, scopes, label, expiresAt }
    return {
      text: `${showOnce(key, hash)}\n${toTable(['KEY', 'HINT', 'EXPIRES'], rows, '')}`,
      data: { ...data, old: { hash: oldHash, hint: old.hint, expiresAt: oldExpiresAt } },
    }
  },
}

export const listKeys: Command = {
  synopsis: '[--team ID | --organization ID]',
  purpose: "lists all keys, or an owner's keys; --teams FILE marks the keys of teams that are not in the file",
  options: [...ownerOptions, 'teams'],
  async run({ values, surroundings, connect }: Invocation): Promise<Result> {
    const isOfOne = values.team !== undefined || values.organization !== undefined
    const owner = isOfOne ? readOwner(values) : undefined
    const teams = await readTeams(values, surroundings)
    const database = connect()
    const store = database.createKeyStore()
    const keys: StoredKeyRecord[] = []
    for (const each of owner ? [owner] : await database.listOwners()) keys.push(...(await store.listKeys(each)))
    if (!teams) return { text: toKeyTable(keys), data: keys }
    const isKnown = ({ type, ownerId }: KeyOwner) => type === 'organization' || teams.has(ownerId)
    return { text: toKeyTable(keys, isKnown), data: keys.map(key => ({ ...key, ownerIsKnown: isKnown(key) })) }
  },
}

function toKeyTable(keys: readonly StoredKeyRecord[], isKnown = (_: KeyOwner) => true): string {
  const heads = ['HASH', 'OWNER', 'HINT', 'LABEL', 'SCOPES', 'CREATED', 'STATE']
  const rows = keys.map(key => [
    key.hash,
    `${key.type} ${key.ownerId}${isKnown(key) ? '' : ' (unknown)'}`,
    ...[key.hint, key.label, key.scopes.join(), key.createdAt, stateOf(key)],
  ])
  return toTable(heads, rows, 'No keys.')
}

export const whoseKey: Command = {
  synopsis: 'HASH|-',
  words: { least: 1, most: 1 },
  purpose: 'shows who owns a key, and whether it is valid',
  async run({ operands, surroundings, connect }: Invocation): Promise<Result> {
    const hash = await readHash(operands, surroundings)
    const key = await connect().createKeyStore().findKey(hash)
    return key ? { text: toKeyTable([key]), data: key } : unknownKey(hash)
  },
}

function stateOf({ revokedAt, expiresAt }: StoredKeyRecord): string {
  if (revokedAt) return `revoked ${revokedAt.toISOString()}`
  if (!expiresAt) return 'valid'
  return `${expiresAt.getTime() <= Date.now() ? 'expired' : 'valid until'} ${expiresAt.toISOString()}`
}

/** Reads the hash of a key. A key itself is read only from standard input, because shells record arguments. */
async function readHash(operands: readonly string[], surroundings: Surroundings): Promise<string> {
  const [hash] = operands as [string]
  if (hash === '-') {
    const [key = '', ...others] = await readInput(surroundings)
    if (others.length > 0 || !/_(?:org|team)_/.test(key))
      throw new UsageError('Standard input must contain exactly one API key')
    return hashApiKey(key)
  }
  if (/^[0-9a-f]{64}$/.test(hash)) return hash
  const isKey = parseApiKey(hash) !== null
  throw new UsageError(
    isKey
      ? 'This is a key. Pass its hash, or pass "-" and send the key to standard input'
      : 'A hash must have 64 hex digits',
  )
}

export const expireKey: Command = {
  synopsis: 'HASH|- --at DATE',
  words: { least: 1, most: 1 },
  purpose: 'makes a key expire at a date; "--at never" removes the date',
  options: ['at'],
  async run({ values, operands, surroundings, connect }: Invocation): Promise<Result> {
    const text = requireValue(values, 'at', 'with a date, or --at never')
    const at = text === 'never' ? null : readDate(text, 'at')
    const hash = await readHash(operands, surroundings)
    if (!(await connect().createKeyStore().updateKey(hash, { expiresAt: at }))) return unknownKey(hash)
    const said = at ? `The key expires at ${at.toISOString()}.\n` : 'The key does not expire.\n'
    return { text: said, data: { hash, expiresAt: at } }
  },
}

export const revokeKey: Command = {
  synopsis: 'HASH|-',
  words: { least: 1, most: 1 },
  purpose: 'revokes a key at once; this cannot be undone',
  async run({ operands, surroundings, connect }: Invocation): Promise<Result> {
    const hash = await readHash(operands, surroundings)
    if (!(await connect().createKeyStore().revokeKey(hash))) return unknownKey(hash)
    return { text: 'The key is revoked.\n', data: { hash, revoked: true } }
  },
}

const unknownKey = (hash: string): Result => ({
  text: 'There is no key with this hash.\n',
  data: { hash, found: false },
  isWrong: true,
})
