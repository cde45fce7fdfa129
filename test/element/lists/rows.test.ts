import { expect, test } from 'vitest'
import { NameList } from '../../../src/element/lists/rows.ts'
import type { InvalidPreview } from '../../../src/wire/results.ts'

const rejected = (input: string, details: Partial<InvalidPreview> = {}): InvalidPreview => ({
  ...{ status: 'invalid', input, code: 'invalid_domain', message: 'No.', reason: 'url' },
  ...details,
})
const free = (input: string, domain = input.toLowerCase()) => ({ status: 'created', input, domain }) as const
const existing = (input: string) => ({ status: 'existing', input, domain: input }) as const
const registered = (input: string) => ({ status: 'created', input, domain: input, domainId: `id of ${input}` }) as const

type Change = (list: NameList) => void
const add =
  (...names: readonly string[]): Change =>
  list =>
    names.forEach(name => {
      list.add(name)
    })
const preview =
  (...results: Parameters<NameList['enterPreviews']>[0]): Change =>
  list =>
    list.enterPreviews(results)
function make(...changes: readonly Change[]): NameList {
  const list = new NameList()
  for (const change of changes) change(list)
  return list
}
/** A list with rows of all states but `unchecked` and `registered`. */
const checked: readonly Change[] = [
  add('a.com', 'A.com', 'old.com', 'https://b.com/', 'b@c.com', 'full.com', '*.c.com'),
  preview(
    ...[
      free('a.com'),
      free('A.com'),
      existing('old.com'),
      rejected('https://b.com/', { suggestion: 'b.com', certain: true }),
    ],
    ...[rejected('b@c.com', { suggestion: 'c.com', certain: false }), free('full.com')],
    rejected('*.c.com', { code: 'subdomain_conflict', reason: 'subdomain_conflict' }),
  ),
  list => list.enterRoom(1),
]
const after = (...changes: readonly Change[]) => make(...checked, ...changes)
const written = [
  'a.com ready',
  'old.com existing',
  'https://b.com/ correctable',
  'b@c.com guessed',
  'full.com full',
  '*.c.com hopeless',
]

/** Writes each row as its text and its state. */
const read = ({ rows }: NameList) => rows.map(({ text, state }) => `${text} ${state}`)

test.each<[what: string, list: NameList, rows: string[], repeated?: number]>([
  ['names that are pasted', make(add(' a.com ', '', 'b.com')), ['a.com unchecked', 'b.com unchecked']],
  ['a name twice', make(add('a.com', 'a.com')), ['a.com unchecked'], 1],
  ['a text longer than the service reads', make(add('x'.repeat(1e6))), [`${'x'.repeat(512)}… unchecked`]],
  ['names pasted later', make(add('a.com'), add('b.com', 'a.com')), ['a.com unchecked', 'b.com unchecked'], 1],
  ['a preview', after(), written, 1],
  [
    'a preview whose parts come in another order',
    make(add('a.com', 'A.com'), preview(free('A.com')), preview(free('a.com'))),
    ['a.com ready'],
    1,
  ],
  [
    'a preview of another spelling of a registered name',
    after(list => list.enterRegistrations([registered('a.com')]), add('A.COM'), preview(free('A.COM'))),
    written.with(0, 'a.com registered'),
    2,
  ],
  ['a preview of a row that is gone', make(add('a.com'), preview(free('b.com'))), ['a.com unchecked']],
  ['no preview', make(add('a.com'), list => list.skipPreviews()), ['a.com ready']],
  ['the corrections', after(list => list.useCorrections()), written.with(2, 'b.com unchecked'), 1],
  [
    'a correction to the text of another row',
    after(add('b.com'), list => list.useCorrections()),
    [...written.toSpliced(2, 1), 'b.com unchecked'],
    2,
  ],
  [
    'the use of several hostnames, of which the list has one',
    make(
      add('a.com|b.com|c.com', 'd.com', 'b.com'),
      preview(rejected('a.com|b.com|c.com', { hosts: ['a.com', 'b.com', 'c.com'] })),
      list => list.use(0),
    ),
    ['a.com unchecked', 'd.com unchecked', 'b.com unchecked', 'c.com unchecked'],
    1,
  ],
  [
    'the corrections, of which several hostnames are none, as a person must decide',
    make(add('a.com|b.com'), preview(rejected('a.com|b.com', { hosts: ['a.com', 'b.com'] })), list =>
      list.useCorrections(),
    ),
    ['a.com|b.com guessed'],
  ],
  [
    'two corrections to one name',
    make(
      add('x', 'y'),
      list => list.replace(0, 'b.com'),
      list => list.replace(1, 'b.com'),
    ),
    ['b.com unchecked'],
    1,
  ],
  ['no room at all', after(list => list.enterRoom(-3)), written.with(0, 'a.com full'), 1],
  ['no limit', after(list => list.enterRoom(null)), written.with(4, 'full.com ready'), 1],
  [
    'the removal of a row that had room',
    after(list => list.remove(({ id }) => id === 0)),
    written.slice(1).with(3, 'full.com ready'),
    1,
  ],
  [
    'the removal of a registered row, which does not make room',
    after(
      list => list.enterRegistrations([registered('a.com')]),
      list => list.remove(({ id }) => id === 0),
    ),
    written.slice(1),
    1,
  ],
  ['the removal of all rows', make(add('a.com', 'a.com'), list => list.remove(() => true)), []],
  [
    'another check of those without room',
    after(list => list.recheck(({ state }) => state === 'full')),
    written.with(4, 'full.com unchecked'),
    1,
  ],
  [
    'registering a name that another team took meanwhile',
    after(list => list.enterRegistrations([rejected('a.com', { code: 'domain_already_licensed' })])),
    written.with(0, 'a.com hopeless'),
    1,
  ],
  [
    'the deletion of a registered name',
    after(
      list => list.enterRegistrations([registered('a.com')]),
      list => list.followDeletion(['a.com', 'x.c.com']),
    ),
    [...written.slice(1, 4), 'full.com unchecked', '*.c.com unchecked'],
    1,
  ],
])('after %s, the rows and their counts are right', (_, list, rows, repeated = 0) => {
  expect(read(list)).toEqual(rows)
  expect([list.size, list.repeated]).toEqual([rows.length, repeated])
  for (const { state } of list.rows) {
    expect(list.count(state)).toBe(list.rows.filter(row => row.state === state).length)
  }
})

test('what is written into a row is kept, and the row keeps what was pasted', () => {
  const list = after(list => list.write(4, 'typed'))
  expect(list.rows[3]).toMatchObject({ state: 'guessed', draft: 'typed' })
  list.write(0, 'not wrong')
  expect(list.rows[0]).not.toHaveProperty('draft')
  list.replace(4, 'c.com')
  expect(list.rows[3]).toEqual({ id: 4, origin: 'b@c.com', text: 'c.com', state: 'unchecked' })
})

test('rows that do not change stay the same objects', () => {
  const list = after()
  const before = list.rows
  expect(list.rows).toBe(before)
  list.useCorrections()
  expect(list.rows.filter((row, index) => row !== before[index])).toHaveLength(1)
})
