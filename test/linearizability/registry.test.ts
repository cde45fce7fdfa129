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

const transfer = (name: typeof a, formerId: string, domainId: string): Operation => ({
  kind: 'transfer',
  from: teamId,
  to: '2',
  names: [name],
  transferred: [{ ...name, formerId, domainId }],
})
const bring = (name: typeof a, domainId: string, verdict: string): Operation => ({
  kind: 'import',
  rows: [{ ...name, teamId, domainId, verdict }],
})
const noRoom: Operation = { kind: 'transfer', from: '2', to: teamId, names: [a], transferred: null }

const created = register([a, 'created', '1'])
const half = list([a, '1'])
const whole = list([a, '1'], [b, '2'])

const refused = (name: typeof a): Operation => ({ kind: 'refused', teamId, names: [name] })

test.each<[what: string, operations: Operation[]]>([
  ['a call above the limit', [created, register([b, 'created', '2'])]],
  ['a refusal below the limit', [refused(a)]],
  ['a refusal of what is held', [created, refused(a)]],
  ['a refused transfer of nothing', [noRoom]],
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
  ['a transfer of what nobody held', 'in turn', [transfer(a, '1', '2')]],
  ['a transfer of another registration', 'in turn', [created, transfer(a, '2', '3')]],
  ['a name of both teams', 'in turn', [created, transfer(a, '1', '2'), list([a, '1'])]],
  ['a name transferred twice', 'at once', [created, transfer(a, '1', '2'), transfer(a, '1', '3')]],
  ['a name that is free after a transfer', 'in turn', [created, transfer(a, '1', '2'), register([a, 'created', '3'])]],
  ['an import that was undone', 'in turn', [bring(a, '1', 'imported'), list()]],
  ['an import below a wildcard', 'at once', [bring(x, '1', 'imported'), bring(wildcard, '2', 'imported')]],
  ['an ID of two names', 'at once', [bring(a, '1', 'imported'), bring(x, '1', 'imported')]],
  ['an import over a registration', 'in turn', [created, bring(a, '2', 'existing')]],
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
