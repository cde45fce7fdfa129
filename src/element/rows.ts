import type { DomainResult, InvalidPreview, InvalidResult, PreviewResult } from '../wire/response.ts'

/** A row of the pasted list, until it is removed. Each change makes another object with the same `id`. */
export type Row = {
  readonly id: number
  /** What was pasted. */
  readonly origin: string
  /** What is sent: the pasted text, a correction, or what the user wrote instead. No two rows have the same text. */
  readonly text: string
} & RowStatus

export type RowState = RowStatus['state']

type RowStatus =
  | { readonly state: 'unchecked'; readonly domain?: undefined }
  /** Can be registered. The canonical form is unknown if the service offers no previews. */
  | { readonly state: 'ready'; readonly domain?: string | undefined }
  /** `existing`: was registered before it was pasted. */
  | { readonly state: 'existing' | 'registered'; readonly domain: string }
  | {
      readonly state: 'wrong'
      /** Known if only the team's limit leaves no room. */
      readonly domain?: string | undefined
      readonly rejection: InvalidPreview | InvalidResult | 'no room'
      /** Whether the user is writing another name. */
      readonly isEdited?: boolean
    }

/** The list, and what happened to it. Each function returns the list afterwards, and changes nothing. */
export interface NameList {
  readonly rows: readonly Row[]
  /** How many rows were left out because another row has the same text or the same canonical form. */
  readonly repeated: number
}

export const emptyList: NameList = { rows: [], repeated: 0 }

export const countRows = ({ rows }: NameList, state: RowState): number => rows.filter(row => row.state === state).length

/** The hostname that the service suggests in place of the row's text. */
export function suggestionOf(row: Row): string | undefined {
  const rejection = row.state === 'wrong' && row.rejection
  return rejection && rejection !== 'no room' && 'suggestion' in rejection ? rejection.suggestion : undefined
}

/** Adds names to the end of the list. */
export function addNames({ rows, repeated }: NameList, names: readonly string[]): NameList {
  const known = new Set(rows.map(({ text }) => text))
  const pasted = names.map(name => name.trim()).filter(name => name !== '')
  const fresh = [...new Set(pasted)].filter(name => !known.has(name))
  const firstId = 1 + rows.reduce((last, { id }) => Math.max(last, id), 0)
  const added = fresh.map((text, index): Row => ({ id: firstId + index, origin: text, text, state: 'unchecked' }))
  return { rows: [...rows, ...added], repeated: repeated + pasted.length - fresh.length }
}

/** Puts other texts in place of those of some rows, which must then be checked. */
export function replaceTexts({ rows, repeated }: NameList, textOf: (row: Row) => string | undefined): NameList {
  const known = new Set(rows.filter(row => textOf(row) === undefined).map(({ text }) => text))
  const kept = rows.flatMap(row => {
    const text = textOf(row)
    if (text === undefined) return [row]
    if (known.has(text)) return []
    known.add(text)
    return [uncheck(row, text)]
  })
  return { rows: kept, repeated: repeated + rows.length - kept.length }
}

export function removeRows(list: NameList, isRemoved: (row: Row) => boolean): NameList {
  const rows = list.rows.filter(row => !isRemoved(row))
  return rows.length === 0 ? emptyList : { ...list, rows }
}

export const setEdited = (list: NameList, id: number, isEdited: boolean): NameList => ({
  ...list,
  rows: list.rows.map(row => (row.id === id && row.state === 'wrong' ? { ...row, isEdited } : row)),
})

/**
 * Enters the results of a preview into the rows that have not been checked. Leaves out a row if another one has the
 * same canonical form.
 */
export function enterPreviews({ rows, repeated }: NameList, results: readonly PreviewResult[]): NameList {
  const byInput = new Map(results.map(result => [result.input, result]))
  const domains = new Set(rows.map(row => row.domain))
  const kept = rows.flatMap((row): readonly Row[] => {
    const result = byInput.get(row.text)
    if (row.state !== 'unchecked' || !result) return [row]
    if (result.status === 'invalid') return [{ ...toBase(row), state: 'wrong', rejection: result }]
    const { domain, status } = result
    if (domains.has(domain)) return []
    domains.add(domain)
    return [{ ...toBase(row), domain, state: status === 'existing' ? status : 'ready' }]
  })
  return { rows: kept, repeated: repeated + rows.length - kept.length }
}

/** Enters for how many more names the team's limit leaves room. The first rows get it. */
export function enterRoom(list: NameList, room: number | null): NameList {
  let left = room ?? Number.POSITIVE_INFINITY
  const rows = list.rows.map((row): Row => {
    const hadNone = row.state === 'wrong' && row.rejection === 'no room'
    if (row.state !== 'ready' && !hadNone) return row
    left -= 1
    if (left < 0 === hadNone) return row
    const { domain } = row
    return { ...toBase(row), domain, ...(hadNone ? { state: 'ready' } : { state: 'wrong', rejection: 'no room' }) }
  })
  return { ...list, rows }
}

/** Enters the results of registering. */
export function enterRegistrations(list: NameList, results: readonly DomainResult[]): NameList {
  const byInput = new Map(results.map(result => [result.input, result]))
  const rows = list.rows.map((row): Row => {
    const result = byInput.get(row.text)
    if (!result) return row
    if (result.status === 'invalid') return { ...toBase(row), state: 'wrong', rejection: result }
    return { ...toBase(row), state: 'registered', domain: result.domain }
  })
  return { ...list, rows }
}

/** Marks unchecked rows as ready: without previews, names are checked when they are registered. */
export const skipPreviews = (list: NameList): NameList => ({
  ...list,
  rows: list.rows.map(row => (row.state === 'unchecked' ? { ...toBase(row), state: 'ready' } : row)),
})

/**
 * Follows the deletion of registered names: their rows are removed. Rows that had no room, or conflicted with a
 * registered name of the user, must be checked again.
 */
export function followDeletion(list: NameList, domains: readonly string[]): NameList {
  const deleted = new Set<string | undefined>(domains)
  const isRegistered = ({ state }: Row) => state === 'existing' || state === 'registered'
  const rest = removeRows(list, row => isRegistered(row) && deleted.has(row.domain))
  return { ...rest, rows: rest.rows.map(row => (dependsOnTeam(row) ? uncheck(row) : row)) }
}

function dependsOnTeam(row: Row): boolean {
  if (row.state !== 'wrong') return false
  const { rejection } = row
  return rejection === 'no room' || rejection.code === 'wildcard_conflict' || rejection.code === 'subdomain_conflict'
}

const toBase = ({ id, origin, text }: Row) => ({ id, origin, text })
const uncheck = (row: Row, text = row.text): Row => ({ ...toBase(row), text, state: 'unchecked' })
