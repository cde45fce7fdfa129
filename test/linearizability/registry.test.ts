import { expect, test } from 'vitest'
import { type Deed, findFault, type Operation } from './registry.ts'

const a = { domain: 'a.com', registrableDomain: 'a.com' }
const wildcard = { domain: '*.a.com', registrableDomain: 'a.com' }
const x = { domain: 'x.a.com', registrableDomain: 'a.com' }
const b = { domain: 'b.com', registrableDomain: 'b.com' }

const register = (...results: [name: typeof a, verdict: string, domainId?: string][]): Operation => ({
  kind: 'register',
  teamId: '1',
  results: results.map(([name, verdict, domainId]) => ({ ...name, verdict, domainId })),
})
const preview = (...results: Parameters<typeof register>): Operation =>
  ({ ...register(...results), kind: 'preview' }) as Operation
const release = (name: typeof a, domainId: string): Operation => ({
  kind: 'release',
  teamId: '1',
  names: [name],
  released: [{ ...name, teamId: '1', domainId }],
})
const list = (...held: [name: typeof a, domainId: string][]): Operation => ({
  kind: 'list',
  listed: held.map(([name, domainId]) => ({ ...name, teamId: '1', domainId })),
})

/** All at once, or each after the one before. */
const at = (order: 'at once' | 'in turn', ...operations: Operation[]): Deed[] =>
  operations.map((operation, index) => ({
    client: String(index),
    operation,
    startedAt: order === 'at once' ? index : 10 * index,
    endedAt: order === 'at once' ? 100 : 10 * index + 5,
  }))

test.each<[string, Deed[]]>([
  [
    'a name that is created, found and released',
    at('in turn', register([a, 'created', '1']), register([a, 'existing', '1']), release(a, '1'), list()),
  ],
  [
    'calls in another order than they began',
    at('at once', list([a, '1']), release(a, '1'), register([a, 'created', '1'])),
  ],
  [
    'a wildcard before what it covers',
    at('at once', register([x, 'wildcard_conflict']), register([wildcard, 'created', '1'])),
  ],
  [
    'a preview that changes nothing, and tells of what its own call would register',
    at(
      'in turn',
      preview([a, 'created'], [a, 'existing']),
      register([a, 'created', '1']),
      preview([a, 'existing', '1']),
    ),
  ],
])('an order explains %s', (_, deeds) => expect(findFault(deeds, ['a.com'])).toBeNull())

test.each<[string, Deed[], string[]]>([
  ['a name created twice', at('at once', register([a, 'created', '1']), register([a, 'created', '2'])), ['a.com']],
  [
    'a name and a wildcard over it',
    at('at once', register([x, 'created', '1']), register([wildcard, 'created', '2'])),
    ['a.com'],
  ],
  [
    'a release that was undone',
    at('in turn', register([a, 'created', '1']), release(a, '1'), list([a, '1'])),
    ['a.com'],
  ],
  [
    'another ID than was given',
    at('in turn', register([a, 'created', '1']), register([a, 'existing', '2'])),
    ['a.com'],
  ],
  ['a list from before a call that had ended', at('in turn', register([a, 'created', '1']), list()), ['a.com']],
  [
    'a preview from before a call that had ended',
    at('in turn', register([a, 'created', '1']), preview([a, 'created'])),
    ['a.com'],
  ],
  [
    'half of a call',
    at('at once', register([a, 'created', '1'], [b, 'created', '2']), list([a, '1']), list([a, '1'], [b, '2'])),
    ['a.com', 'b.com'],
  ],
])('no order explains %s', (_, deeds, registrableDomains) => {
  expect(findFault(deeds, registrableDomains)).toContain('No order explains the others')
})
