import { expect, test } from 'vitest'
import {
  addNames,
  emptyList,
  enterPreviews,
  enterRegistrations,
  enterRoom,
  followDeletion,
  type NameList,
  removeRows,
  replaceTexts,
  setEdited,
  skipPreviews,
  suggestionOf,
} from '../../src/element/rows.ts'
import type { InvalidPreview } from '../../src/wire/response.ts'

const rejected = (input: string, details: Partial<InvalidPreview> = {}): InvalidPreview => ({
  ...{ status: 'invalid', input, code: 'invalid_domain', message: 'No.', reason: 'url' },
  ...details,
})
const free = (input: string, domain = input.toLowerCase()) => ({ status: 'created', input, domain }) as const
const existing = (input: string) => ({ status: 'existing', input, domain: input }) as const
const registered = (input: string) => ({ status: 'created', input, domain: input, domainId: `id of ${input}` }) as const

const pasted = (...names: string[]) => addNames(emptyList, names)
/** A list with rows of all states but `unchecked`, which is never left after a preview. */
const checked = () => {
  const list = enterPreviews(pasted('a.com', 'A.com', 'old.com', 'https://b.com/', 'full.com', '*.c.com'), [
    ...[free('a.com'), free('A.com'), existing('old.com'), rejected('https://b.com/', { suggestion: 'b.com' })],
    ...[free('full.com'), rejected('*.c.com', { code: 'subdomain_conflict', reason: 'subdomain_conflict' })],
  ])
  return enterRoom(list, 1)
}

/** Writes each row as its text and its state. */
const read = ({ rows }: NameList) => rows.map(({ text, state }) => `${text} ${state}`)

test.each<[what: string, list: NameList, rows: string[], repeated?: number]>([
  ['names that are pasted', pasted(' a.com ', '', 'b.com'), ['a.com unchecked', 'b.com unchecked']],
  ['a name twice', pasted('a.com', 'a.com'), ['a.com unchecked'], 1],
  ['names pasted later', addNames(pasted('a.com'), ['b.com', 'a.com']), ['a.com unchecked', 'b.com unchecked'], 1],
  [
    'a preview',
    checked(),
    ['a.com ready', 'old.com existing', 'https://b.com/ wrong', 'full.com wrong', '*.c.com wrong'],
    1,
  ],
  [
    'a preview whose parts come in another order',
    enterPreviews(enterPreviews(pasted('a.com', 'A.com'), [free('A.com')]), [free('a.com')]),
    ['A.com ready'],
    1,
  ],
  [
    'a preview of another spelling of a registered name',
    enterPreviews(addNames(enterRegistrations(checked(), [registered('a.com')]), ['A.COM']), [free('A.COM')]),
    read(checked()).with(0, 'a.com registered'),
    2,
  ],
  ['a preview of a row that is gone', enterPreviews(pasted('a.com'), [free('b.com')]), ['a.com unchecked']],
  ['no preview', skipPreviews(pasted('a.com')), ['a.com ready']],
  ['a correction', replaceTexts(checked(), suggestionOf), read(checked()).with(2, 'b.com unchecked'), 1],
  [
    'a correction to the text of another row',
    replaceTexts(addNames(checked(), ['b.com']), suggestionOf),
    [...read(checked()).toSpliced(2, 1), 'b.com unchecked'],
    2,
  ],
  ['two corrections to one name', replaceTexts(pasted('x', 'y'), () => 'b.com'), ['b.com unchecked'], 1],
  ['the removal of a row', removeRows(checked(), ({ id }) => id === 1), read(checked()).slice(1), 1],
  ['a preview that finds more room', enterRoom(checked(), 2), read(checked()).with(3, 'full.com ready'), 1],
  ['a preview that finds no limit', enterRoom(checked(), null), read(checked()).with(3, 'full.com ready'), 1],
  ['a preview of a team above its limit', enterRoom(checked(), -5), read(checked()).with(0, 'a.com wrong'), 1],
  ['the removal of all rows', removeRows(pasted('a.com', 'a.com'), () => true), []],
  ['registering', enterRegistrations(checked(), [registered('a.com')]), read(checked()).with(0, 'a.com registered'), 1],
  [
    'registering a name that another team took meanwhile',
    enterRegistrations(checked(), [rejected('a.com', { code: 'domain_already_licensed' })]),
    read(checked()).with(0, 'a.com wrong'),
    1,
  ],
  [
    'the deletion of a registered name',
    followDeletion(enterRegistrations(checked(), [registered('a.com')]), ['a.com', 'x.c.com']),
    ['old.com existing', 'https://b.com/ wrong', 'full.com unchecked', '*.c.com unchecked'],
    1,
  ],
])('after %s, the rows are right', (_, list, rows, repeated = 0) => {
  expect(read(list)).toEqual(rows)
  expect(list.repeated).toBe(repeated)
  expect(new Set(list.rows.map(({ id }) => id)).size).toBe(rows.length)
})

test('rows keep what was pasted, and unchanged rows stay the same objects, so they are not drawn again', () => {
  const before = checked()
  const after = replaceTexts(before, suggestionOf)
  expect(after.rows[2]).toEqual({ id: 4, origin: 'https://b.com/', text: 'b.com', state: 'unchecked' })
  expect(after.rows.filter((row, index) => row !== before.rows[index])).toHaveLength(1)
  const editing = setEdited(before, 4, true)
  expect(editing.rows[2]).toEqual({ ...before.rows[2], isEdited: true })
  expect(setEdited(editing, 4, false).rows[2]).toEqual({ ...before.rows[2], isEdited: false })
  expect(setEdited(before, 1, true)).toEqual(before)
})
