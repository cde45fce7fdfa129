import { expect, test } from 'vitest'
import { findFault, type Operation } from './registry.ts'

const teamId = '1'
const a = { domain: 'a.com', registrableDomain: 'a.com' }
const wildcard = { domain: '*.a.com', registrableDomain: 'a.com' }
const x = { domain: 'x.a.com', registrableDomain: 'a.com' }
const b = { domain: 'b.com', registrableDomain: 'b.com' }

const ask =
  (kind: 'register' | 'preview') =>
  (...results: [name: typeof a, verdict: string, domainId?: string][]): Operation => ({
    kind,
    teamId,
    results: results.map(([name, verdict, domainId]) => ({ ...name, verdict, domainId })),
  })
const [register, preview] = [ask('register'), ask('preview')]
const release = (name: typeof a, domainId: string): Operation => ({
  kind: 'release',
  teamId,
  names: [name],
  released: [{ ...name, teamId, domainId }],
})
const list = (...held: [name: typeof a, domainId: string][]): Operation => ({
  kind: 'list',
  listed: held.map(([name, domainId]) => ({ ...name, teamId, domainId })),
})

const created = register([a, 'created', '1'])
const half = list([a, '1'])
const whole = list([a, '1'], [b, '2'])

const refused = (name: typeof a): Operation => ({ kind: 'refused', teamId, names: [name] })

test.each<[what: string, operations: Operation[]]>([
  ['a call above the limit', [created, register([b, 'created', '2'])]],
  ['a refusal below the limit', [refused(a)]],
  ['a refusal of what is held', [created, refused(a)]],
])('no order explains %s', (_, operations) => {
  const deeds = operations.map((operation, index) => ({
    client: String(index),
    operation,
    startedAt: 10 * index,
    endedAt: 10 * index + 5,
  }))
  expect(findFault(deeds, ['a.com', 'b.com'], { [teamId]: 1 })).toContain('No order explains the others')
  expect(findFault(deeds, ['a.com', 'b.com'])).toBeNull()
})

test.each<[what: string, order: 'at once' | 'in turn', operations: Operation[]]>([
  ['a name created twice', 'at once', [created, register([a, 'created', '2'])]],
  ['a name and a wildcard over it', 'at once', [register([x, 'created', '1']), register([wildcard, 'created', '2'])]],
  ['a release that was undone', 'in turn', [created, release(a, '1'), list([a, '1'])]],
  ['a release of what nobody held', 'in turn', [release(a, '1')]],
  ['another ID than was given', 'in turn', [created, register([a, 'existing', '2'])]],
  ['a list from before a call that had ended', 'in turn', [created, list()]],
  ['a preview from before a call that had ended', 'in turn', [created, preview([a, 'created'])]],
  ['half of a call', 'at once', [register([a, 'created', '1'], [b, 'created', '2']), half, whole]],
])('no order explains %s', (_, order, operations) => {
  const deeds = operations.map((operation, index) => ({
    client: String(index),
    operation,
    startedAt: order === 'at once' ? index : 10 * index,
    endedAt: order === 'at once' ? 100 : 10 * index + 5,
  }))
  expect(findFault(deeds, ['a.com', 'b.com'])).toContain('No order explains the others')
})
