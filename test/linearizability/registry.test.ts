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
  ['a call that exceeds the limit', [created, register([b, 'created', '2'])]],
  ['a limit error below the limit', [refused(a)]],
  ['a limit error for a registered name', [created, refused(a)]],
  ['a limit error for an empty transfer', [noRoom]],
])('the checker rejects %s', (_, operations) => {
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
  [
    'a name and a wildcard that covers it',
    'at once',
    [register([x, 'created', '1']), register([wildcard, 'created', '2'])],
  ],
  ['a later list with a released name', 'in turn', [created, release(a, '1'), list([a, '1'])]],
  ['a release of an unregistered name', 'in turn', [release(a, '1')]],
  ['an existing name with a different ID', 'in turn', [created, register([a, 'existing', '2'])]],
  ['a list without a name from an earlier call', 'in turn', [created, list()]],
  ['a preview without a name from an earlier call', 'in turn', [created, preview([a, 'created'])]],
  ['a transfer of an unregistered name', 'in turn', [transfer(a, '1', '2')]],
  ["a transfer of another team's registration", 'in turn', [created, transfer(a, '2', '3')]],
  ['a transferred name in the list of its former team', 'in turn', [created, transfer(a, '1', '2'), list([a, '1'])]],
  ['a name transferred twice', 'at once', [created, transfer(a, '1', '2'), transfer(a, '1', '3')]],
  [
    'a transferred name that a third team registers',
    'in turn',
    [created, transfer(a, '1', '2'), register([a, 'created', '3'])],
  ],
  ['a later list without an imported name', 'in turn', [bring(a, '1', 'imported'), list()]],
  ['an import below a wildcard', 'at once', [bring(x, '1', 'imported'), bring(wildcard, '2', 'imported')]],
  ['two names with one ID', 'at once', [bring(a, '1', 'imported'), bring(x, '1', 'imported')]],
  ['an import that replaces a registration', 'in turn', [created, bring(a, '2', 'existing')]],
  [
    'a list that shows only some of the names of one call',
    'at once',
    [register([a, 'created', '1'], [b, 'created', '2']), half, whole],
  ],
])('the checker rejects %s', (_, order, operations) => {
  const deeds = operations.map((operation, index) => ({
    client: String(index),
    operation,
    startedAt: order === 'at once' ? index : 10 * index,
    endedAt: order === 'at once' ? 100 : 10 * index + 5,
  }))
  expect(findFault(deeds, ['a.com', 'b.com'])).toContain('No order explains the others')
})
