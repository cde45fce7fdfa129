import { describe, expect, test } from 'vitest'
import { authenticate, generateApiKey, type KeyChanges, type KeyRecord, type ManagedKeyStore } from '../../src/index.ts'
import { rejection, scopes } from '../fixtures.ts'

/** Tests that every key store of this package must pass. `keys` may also contain other keys. */
export function describeKeyStore(name: string, keys: () => ManagedKeyStore): void {
  const ownerId = () => `${Date.now()}${Math.random()}`.replaceAll(/\D/g, '')

  async function createKey(changes: Partial<KeyRecord> = {}) {
    const owner = { type: 'team', ownerId: ownerId() } as const
    const { key, hash, hint } = await generateApiKey({ type: owner.type, id: owner.ownerId })
    return { key, owner, record: { hash, hint, scopes, ...owner, ...changes } satisfies KeyRecord }
  }
  async function isAccepted(key: string): Promise<boolean> {
    try {
      await authenticate(`Bearer ${key}`, keys())
      return true
    } catch (error) {
      expect(error).toMatchObject({ status: 401 })
      return false
    }
  }

  describe(`the key store in ${name}`, () => {
    test('finds a key by its hash, and returns null for each field that was not set', async () => {
      const { record } = await createKey()
      expect(await keys().findKey(record.hash)).toBeNull()
      await keys().addKey(record)
      expect(await keys().findKey(record.hash)).toEqual({
        ...record,
        label: null,
        createdAt: expect.any(Date),
        revokedAt: null,
        expiresAt: null,
      })
      const full = {
        ...record,
        type: 'organization',
        hash: `${record.hash.slice(1)}0`,
        scopes: ['domains:read', 'domains:create'],
        label: `Nightly "import", 'é' \u{1f511}`,
        createdAt: new Date('2019-01-02T03:04:05.678Z'),
        revokedAt: new Date('2026-01-02T03:04:05.678Z'),
        expiresAt: new Date('2030-01-02T03:04:05.678Z'),
      } as const
      expect(await keys().addKey(full)).toBe(true)
      expect(await keys().findKey(full.hash)).toEqual(full)
    })

    test('does not change a record if it is added again, so a revoked key stays revoked', async () => {
      const { key, record } = await createKey({ label: 'old' })
      expect(await keys().addKey(record)).toBe(true)
      await keys().revokeKey(record.hash)
      const revoked = await keys().findKey(record.hash)
      for (const again of [record, { ...record, revokedAt: null, label: 'new', scopes: ['domains:read'] }])
        expect(await keys().addKey(again)).toBe(false)
      expect(await keys().findKey(record.hash)).toEqual(revoked)
      expect(await isAccepted(key)).toBe(false)
    })

    test('keeps the dates of a record, even if the application changes its own Date objects afterwards', async () => {
      const { key, record } = await createKey()
      const past = () => new Date('2020-01-02T03:04:05.678Z')
      const [createdAt, expiresAt] = [past(), past()]
      await keys().addKey({ ...record, createdAt, expiresAt })
      createdAt.setTime(0)
      expiresAt.setFullYear(2100)
      ;(await keys().findKey(record.hash))?.expiresAt?.setFullYear(2100)
      ;(await keys().listKeys(record))[0]?.createdAt.setTime(0)
      expect(await keys().findKey(record.hash)).toMatchObject({ createdAt: past(), expiresAt: past() })
      const updated = past()
      await keys().updateKey(record.hash, { expiresAt: updated })
      updated.setFullYear(2100)
      expect(await isAccepted(key)).toBe(false)
    })

    test('adds a key only once if several calls add it simultaneously', async () => {
      const { record } = await createKey()
      const added = await Promise.all(['a', 'b', 'c'].map(async label => keys().addKey({ ...record, label })))
      expect(added.filter(Boolean)).toHaveLength(1)
      expect((await keys().findKey(record.hash))?.label).toBe(['a', 'b', 'c'][added.indexOf(true)])
    })

    test.each<[what: string, changes: KeyChanges]>([
      ['sets a new label', { label: `Nightly "import", 'é'` }],
      ['sets an empty label', { label: '' }],
      ['removes the label', { label: null }],
      ['sets new scopes', { scopes: ['domains:delete', 'domains:read'] }],
      ['removes all scopes', { scopes: [] }],
      ['sets a new expiry date', { expiresAt: new Date('2031-01-02T03:04:05.678Z') }],
      ['accepts the earliest possible expiry date', { expiresAt: new Date('0001-01-01T00:00:00.000Z') }],
      ['accepts the latest expiry date that a Date can hold', { expiresAt: new Date(8.64e15) }],
      ['accepts an expiry date at the beginning of 1970', { expiresAt: new Date(0) }],
      ['removes the expiry date', { expiresAt: null }],
      [
        'sets a new label, new scopes and a new expiry date',
        { label: 'new', scopes: ['domains:read'], expiresAt: new Date('2031-01-02T03:04:05.678Z') },
      ],
      ['accepts an update without changes', {}],
    ])('updateKey %s, and leaves the rest of the key unchanged', async (_, changes) => {
      const { record } = await createKey({ label: 'old', expiresAt: new Date('2030-01-02T03:04:05.678Z') })
      await keys().addKey(record)
      const before = await keys().findKey(record.hash)
      expect(await keys().updateKey(record.hash, { label: undefined, ...changes })).toBe(true)
      expect(await keys().findKey(record.hash)).toEqual({ ...before, ...changes })
    })

    test('lists the records of an owner’s keys, oldest first, with hashes instead of keys', async () => {
      const { key, owner, record } = await createKey()
      const hashes = ['f', '0', '9'].map(digit => record.hash.slice(1) + digit)
      for (const [index, hash] of hashes.entries()) {
        await keys().addKey({ ...record, hash, createdAt: new Date(1_700_000_000_000 + index) })
      }
      await keys().addKey({ ...record, createdAt: new Date(1_600_000_000_000) })
      await keys().addKey({ ...record, hash: `${record.hash.slice(1)}d`, type: 'organization' })
      await keys().addKey({ ...record, hash: `${record.hash.slice(1)}e`, ownerId: `${owner.ownerId}0` })
      const listed = await keys().listKeys(owner)
      expect(listed.map(({ hash }) => hash)).toEqual([record.hash, ...hashes])
      expect(JSON.stringify(listed)).not.toContain(key)
      expect(await keys().listKeys({ ...owner, ownerId: `${owner.ownerId}1` })).toEqual([])
    })

    test('revokes a key, keeps the date of the first revocation, and returns whether the key exists', async () => {
      const { key, record } = await createKey()
      await keys().addKey(record)
      expect(await isAccepted(key)).toBe(true)
      expect(await keys().revokeKey(record.hash)).toBe(true)
      const revoked = await keys().findKey(record.hash)
      expect(revoked?.revokedAt).toBeInstanceOf(Date)
      expect(await isAccepted(key)).toBe(false)
      await new Promise(resolve => setTimeout(resolve, 2))
      expect(await keys().revokeKey(record.hash)).toBe(true)
      expect(await keys().findKey(record.hash)).toEqual(revoked)
      expect(await keys().revokeKey('b'.repeat(64))).toBe(false)
    })

    test('sets and removes the expiry date of a key, without undoing a revocation', async () => {
      const { key, record } = await createKey()
      await keys().addKey(record)
      expect(await keys().updateKey(record.hash, { expiresAt: new Date() })).toBe(true)
      expect(await isAccepted(key)).toBe(false)
      expect(await keys().updateKey(record.hash, { expiresAt: null })).toBe(true)
      expect(await isAccepted(key)).toBe(true)
      await keys().revokeKey(record.hash)
      const revoked = await keys().findKey(record.hash)
      const expiresAt = new Date(Date.now() + 60_000)
      expect(await keys().updateKey(record.hash, { expiresAt })).toBe(true)
      expect(await keys().findKey(record.hash)).toEqual({ ...revoked, expiresAt })
      expect(await isAccepted(key)).toBe(false)
      expect(await keys().updateKey('b'.repeat(64), { expiresAt })).toBe(false)
    })

    test('keeps a key revoked and saves all updates, even if revokeKey and updateKey run simultaneously', async () => {
      const expiresAt = new Date('2031-01-02T03:04:05.678Z')
      for (let first = 0; first < 10; first += 1) {
        const { key, record } = await createKey({ label: 'old' })
        await keys().addKey(record)
        const calls = [
          () => keys().revokeKey(record.hash),
          () => keys().updateKey(record.hash, { label: 'new' }),
          () => keys().updateKey(record.hash, { scopes: ['domains:read'] }),
          () => keys().addKey(record),
          () => keys().updateKey(record.hash, { expiresAt }),
        ]
        await Promise.all(calls.map((_, index) => calls[(first + index) % calls.length]?.()))
        expect(await keys().findKey(record.hash)).toMatchObject({
          ...{ revokedAt: expect.any(Date), label: 'new', scopes: ['domains:read'], expiresAt },
        })
        expect(await isAccepted(key)).toBe(false)
      }
    })

    // test/keys/key-record.test.ts has every rule; each method applies them.
    test.each<[what: string, call: (store: ManagedKeyStore) => unknown, message: RegExp]>([
      ['a key as the hash to revoke', store => store.revokeKey('svc_team_3_ab'), /"hash" must be .* not shown here$/],
      ['undefined as a hash', store => store.revokeKey(undefined as never), /"hash" must be the SHA-256 of the key/],
      [
        'a key as the hash to update',
        store => store.updateKey('svc_team_3_ab', {}),
        /"hash" must be .* not shown here$/,
      ],
      [
        'an update that would undo a revocation',
        store => store.updateKey('b'.repeat(64), { revokedAt: null } as never),
        /^The field "revokedAt" does not exist; there are "label", "scopes", "expiresAt"$/,
      ],
      ['an owner ID that is a number', store => store.listKeys({ type: 'team', ownerId: 3 } as never), /it is 3$/],
      ['a record without a type', store => store.addKey({ hash: 'b'.repeat(64) } as never), /"type" must be/],
    ])('rejects %s', async (_, call, message) => {
      const error = await rejection((async () => call(keys()))())
      expect(error).toBeInstanceOf(TypeError)
      expect((error as Error).message).toMatch(message)
      expect((error as Error).message).not.toContain('svc_team_3_ab')
    })
  })
}
