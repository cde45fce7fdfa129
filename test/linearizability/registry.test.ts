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
    room: null,
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
  ['a call exceeds the limit', [created, register([b, 'created', '2'])]],
  ['a call below the limit gets a limit error', [refused(a)]],
  ['a call gets a limit error for a name that is already registered', [created, refused(a)]],
  ['a transfer gets a limit error although there is nothing to transfer', [noRoom]],
])('the checker rejects a history in which %s', (_, operations) => {
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
  ['a name is created twice', 'at once', [created, register([a, 'created', '2'])]],
  [
    'a name and a wildcard that covers it are both created',
    'at once',
    [register([x, 'created', '1']), register([wildcard, 'created', '2'])],
  ],
  ['a later list contains a released name', 'in turn', [created, release(a, '1'), list([a, '1'])]],
  ['an unregistered name is released', 'in turn', [release(a, '1')]],
  ['an existing name is returned with a different ID', 'in turn', [created, register([a, 'existing', '2'])]],
  ['a list omits a name that an earlier call registered', 'in turn', [created, list()]],
  ['a preview treats a registered name as new', 'in turn', [created, preview([a, 'created'])]],
  ['an unregistered name is transferred', 'in turn', [transfer(a, '1', '2')]],
  ['a transfer reports a former ID that the name never had', 'in turn', [created, transfer(a, '2', '3')]],
  [
    'a list still contains a transferred name for the former team',
    'in turn',
    [created, transfer(a, '1', '2'), list([a, '1'])],
  ],
  ['two transfers move the same registration', 'at once', [created, transfer(a, '1', '2'), transfer(a, '1', '3')]],
  [
    'the former team registers a transferred name again',
    'in turn',
    [created, transfer(a, '1', '2'), register([a, 'created', '3'])],
  ],
  ['a later list omits an imported name', 'in turn', [bring(a, '1', 'imported'), list()]],
  [
    'a name and a wildcard that covers it are both imported',
    'at once',
    [bring(x, '1', 'imported'), bring(wildcard, '2', 'imported')],
  ],
  ['two names have the same ID', 'at once', [bring(a, '1', 'imported'), bring(x, '1', 'imported')]],
  [
    'an import reports a registered name as existing under a different ID',
    'in turn',
    [created, bring(a, '2', 'existing')],
  ],
  [
    'a list shows only some of the names that one call registered',
    'at once',
    [register([a, 'created', '1'], [b, 'created', '2']), half, whole],
  ],
])('the checker rejects a history in which %s', (_, order, operations) => {
  const deeds = operations.map((operation, index) => ({
    client: String(index),
    operation,
    startedAt: order === 'at once' ? index : 10 * index,
    endedAt: order === 'at once' ? 100 : 10 * index + 5,
  }))
  expect(findFault(deeds, ['a.com', 'b.com'])).toContain('No order explains the others')
})
