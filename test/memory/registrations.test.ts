import { expect, test, vi } from 'vitest'
import { createHolding } from '../../src/memory/holding.ts'
import { createRegistrations } from '../../src/memory/registrations.ts'
import { hashText } from '../../src/memory/text-hash.ts'
import type { Name } from '../../src/registry/name.ts'

/** Below a base, and not in its registrable domain: a public suffix is between. */
const bucket: Name = { domain: 'bucket.s3.amazonaws.com', registrableDomain: 'bucket.s3.amazonaws.com' }
const inAmazonaws = (label: string): Name => ({
  domain: `${label}.amazonaws.com`,
  registrableDomain: 'amazonaws.com',
})
const base: Name = { domain: 'amazonaws.com', registrableDomain: 'amazonaws.com' }

const hold = (name: Name) => createHolding(name, `id of ${name.domain}`, '1', true)

/** Enough registrable domains for them to be found by their hashes. */
const MANY = 20_000

const toNames = (count: number): Name[] =>
  Array.from({ length: count }, (_, index) => ({ domain: `n${index}.de`, registrableDomain: `n${index}.de` }))

/** Makes the two domains of AWS collide with each other, and with nothing else or with everything else. */
const collideAlone = (text: string) => (text.endsWith('amazonaws.com') ? 7 : hashText(text))
const collideAll = () => 7

test.each([
  ['few', 0, collideAll],
  ['many of other hashes', MANY, collideAlone],
  ['many of the same hash', MANY, collideAll],
])('registrable domains whose hashes collide stay apart, with %s held', (_, count, hash) => {
  const registrations = createRegistrations(hash)
  const inBucket = hold(bucket)
  for (const holding of [inBucket, ...toNames(count).map(hold)]) registrations.add(holding)

  expect(registrations.find(bucket)).toBe(inBucket)
  expect(registrations.find(base)).toBeUndefined()
  expect(registrations.findBelow(base, '1')).toEqual({ ownDomains: [], ownCount: 0, heldByOthers: false })

  const below = hold(inAmazonaws('www'))
  registrations.add(below)
  expect(registrations.findAll([base, below, bucket])).toEqual([below, inBucket])
  expect(registrations.findBelow(base, '1')).toMatchObject({ ownDomains: ['www.amazonaws.com'], ownCount: 1 })

  registrations.remove(below)
  expect(registrations.findBelow(base, '1').ownCount).toBe(0)
  expect([...registrations.all()]).toHaveLength(count + 1)
})

test.each([
  ['alone', collideAlone],
  ['with all others', collideAll],
])('nothing is lost when few become many, where hashes collide %s', (_, hash) => {
  const registrations = createRegistrations(hash)
  const early = [bucket, inAmazonaws('a'), inAmazonaws('b'), ...toNames(100)].map(hold)
  early.forEach(registrations.add)
  const late = toNames(MANY).slice(100).map(hold)
  late.forEach(registrations.add)

  expect(registrations.findAll(early)).toEqual(early)
  expect(registrations.findBelow(base, '1')).toEqual({
    ownDomains: ['a.amazonaws.com', 'b.amazonaws.com'],
    ownCount: 2,
    heldByOthers: false,
  })
  expect([...registrations.all()]).toHaveLength(early.length + late.length)

  for (const holding of [...early, ...late]) registrations.remove(holding)
  expect([...registrations.all()]).toEqual([])
})

test('few registrable domains are never hashed, and many are', () => {
  const hash = vi.fn(hashText)
  const registrations = createRegistrations(hash)
  const holdings = toNames(MANY).map(hold)
  for (const holding of holdings.slice(0, 16_384)) registrations.add(holding)
  expect(registrations.findAll(holdings.slice(0, 10))).toHaveLength(10)
  expect(hash).not.toHaveBeenCalled()

  for (const holding of holdings.slice(16_384)) registrations.add(holding)
  hash.mockClear()
  expect(registrations.find(holdings[0] as Name)).toBe(holdings[0])
  expect(hash).toHaveBeenCalledTimes(1)
})
