import { expect, test } from 'vitest'
import { createHolding } from '../../src/memory/holding.ts'
import { createRegistrations } from '../../src/memory/registrations.ts'
import type { Name } from '../../src/registry/name.ts'

/** Below a base, and not in its registrable domain: a public suffix is between. */
const bucket: Name = { domain: 'bucket.s3.amazonaws.com', registrableDomain: 'bucket.s3.amazonaws.com' }
const inAmazonaws = (label: string): Name => ({
  domain: `${label}.amazonaws.com`,
  registrableDomain: 'amazonaws.com',
})
const base: Name = { domain: 'amazonaws.com', registrableDomain: 'amazonaws.com' }

const hold = (name: Name) => createHolding(name, `id of ${name.domain}`, '1', true)

test.each([0, 3, 50])('registrable domains whose hashes collide stay apart, with %i more names held', count => {
  const registrations = createRegistrations(() => 7)
  const others = Array.from({ length: count }, (_, index) =>
    hold({ domain: `n${index}.de`, registrableDomain: `n${index}.de` }),
  )
  const inBucket = hold(bucket)
  for (const holding of [...others, inBucket]) registrations.add(holding)

  expect(registrations.find(bucket)).toBe(inBucket)
  expect(registrations.find(base)).toBeUndefined()
  expect(registrations.findBelow(base, '1')).toEqual({ ownDomains: [], ownCount: 0, heldByOthers: false })

  const below = hold(inAmazonaws('www'))
  registrations.add(below)
  expect(registrations.findBelow(base, '1')).toMatchObject({ ownDomains: ['www.amazonaws.com'], ownCount: 1 })

  registrations.remove(below)
  expect(registrations.findBelow(base, '1').ownCount).toBe(0)
  expect([...registrations.all()]).toHaveLength(count + 1)
})
