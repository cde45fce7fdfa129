import { expect, test } from 'vitest'
import { createMemoryKeyStore, type KeyRecord } from '../../src/index.ts'
import { scopes } from '../fixtures.ts'
import { describeKeyStore } from './key-store-suite.ts'

const keys = createMemoryKeyStore()
describeKeyStore('memory', () => keys)

test('a key store in memory copies each added record, so later changes to the object have no effect', () => {
  const hash = 'c'.repeat(64)
  const given = { hash, type: 'team' as const, ownerId: '3', scopes: [...scopes] } satisfies KeyRecord
  keys.addKey(given)
  given.scopes.push('domains:delete')
  expect(keys.findKey(hash)?.scopes).toEqual(scopes)
})

test('a key store in memory also saves the properties that a record inherits', () => {
  const record = { hash: 'd'.repeat(64), type: 'team', ownerId: '3', scopes: [...scopes] } satisfies KeyRecord
  keys.addKey(Object.create(record))
  expect(keys.findKey(record.hash)).toMatchObject(record)
})
