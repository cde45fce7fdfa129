import { MAX_INPUT_LENGTH } from '../../hostname/ldh-name.ts'
import { type DnsRecord, readDnsRecord } from '../../rules/submitted.ts'
import type { DomainResult, InvalidPreview, InvalidResult, PreviewResult } from '../../wire/results.ts'

/** A row of the pasted list, until it is removed. Each change makes another object with the same `id`. */
export type Row = {
  readonly id: number
  /** What was pasted. */
  readonly origin: string
  /** What is sent: the pasted text, a correction, or what the user wrote instead. No two rows have the same text. */
  readonly text: string
  /** The DNS record that the service wants for the name. It stays while the name is checked again. */
  readonly record?: DnsRecord | undefined
} & (
  | { readonly state: 'unchecked'; readonly domain?: undefined }
  /** `full`: the team's limit leaves no room. The canonical form is unknown if the service offers no previews. */
  | { readonly state: 'ready' | 'full'; readonly domain?: string | undefined }
  /** `existing`: was registered before it was pasted. */
  | { readonly state: 'existing' | 'registered'; readonly domain: string }
  /**
   * `waits`: cannot be registered yet; registering it makes the service keep it and try again by itself. `kept`: that
   * was done, and `message` is what the service said.
   */
  | { readonly state: 'waits' | 'kept'; readonly domain?: undefined; readonly message: string }
  | WrongStatus
)

interface WrongStatus {
  /**
   * Whether the suggestion is certain, is for the user to decide (a guess, or several hostnames), or is missing.
   * `unproven`: the name is right, but the service wants a DNS record for it, and does not try again by itself.
   */
  readonly state: 'correctable' | 'guessed' | 'hopeless' | 'unproven'
  readonly domain?: undefined
  readonly rejection: InvalidPreview | InvalidResult
  /** What the user is writing in its place. */
  readonly draft?: string | undefined
}

export type WrongRow = Row & WrongStatus
export type RowState = Row['state']

/** The states of rows with a problem. */
export const problems: readonly RowState[] = ['correctable', 'guessed', 'hopeless', 'unproven', 'full']

export const isWrong = (row: Row): row is WrongRow => 'rejection' in row

/** The hostname that the service suggests in place of the row's text. */
export const suggestionOf = ({ rejection }: WrongRow): string | undefined =>
  'suggestion' in rejection ? rejection.suggestion : undefined

/** All hostnames that the row's text names, if it names two or more. */
export const hostsOf = ({ rejection }: Pick<WrongRow, 'rejection'>): readonly string[] =>
  ('hosts' in rejection && rejection.hosts) || []

type Outcome = WrongStatus | { readonly state: 'waits'; readonly message: string }
function toWrong(rejection: InvalidPreview | InvalidResult): Outcome & Pick<Row, 'record'> {
  if ('waits' in rejection && rejection.waits) return { state: 'waits', message: rejection.message }
  const record = readDnsRecord('record' in rejection ? rejection.record : undefined)
  if (record) return { state: 'unproven', rejection, record }
  if (hostsOf({ rejection }).length > 0) return { state: 'guessed', rejection }
  if (!('suggestion' in rejection && rejection.suggestion)) return { state: 'hopeless', rejection }
  return { state: rejection.certain ? 'correctable' : 'guessed', rejection }
}

/** The pasted list. A change takes time in proportion to the rows that it changes. */
export class NameList {
  /** At the index of its ID, so a row that changes keeps its place. A row that is removed leaves a hole. */
  readonly #rows: (Row | undefined)[] = []
  #shown: readonly Row[] | undefined = []
  readonly #byText = new Map<string, number>()
  readonly #byDomain = new Map<string, number>()
  readonly #counts = new Map<RowState, number>()
  /** How many rows may be ready: those that the team's limit leaves room for, if it has one. */
  #room: number | null = null
  /** How many rows were left out because another row has the same text or the same canonical form. */
  repeated = 0

  /** All rows, as an array that stays the same until a row changes. */
  get rows(): readonly Row[] {
    this.#shown ??= this.#rows.filter(row => row !== undefined)
    return this.#shown
  }
  count(...states: readonly RowState[]): number {
    return states.reduce((sum, state) => sum + (this.#counts.get(state) ?? 0), 0)
  }
  get size(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0)
  }
  texts(...states: readonly RowState[]): readonly string[] {
    return this.rows.flatMap(row => (states.includes(row.state) ? row.text : []))
  }

  /** Adds a name to the end of the list. */
  add(name: string, origin = name.trim()): void {
    const text = cut(name.trim())
    if (text === '') return
    if (this.#byText.has(text)) this.repeated += 1
    else this.#put({ id: this.#rows.length, origin: cut(origin), text, state: 'unchecked' })
  }
  /** Puts another text in place of that of a row, which must then be checked. */
  replace(id: number, written: string): void {
    const text = written.trim()
    if (text === '') return
    const row = this.#rows[id]
    const other = this.#byText.get(text) ?? id
    if (other !== id) this.#leaveOut(id)
    else if (row) this.#put({ ...toBase(row), text, state: 'unchecked' })
  }
  /** Puts what the service suggests in place of a row. Of several hostnames, all but the first come to the end. */
  use(id: number): void {
    const row = this.#rows[id]
    if (!row || !isWrong(row)) return
    const [first = suggestionOf(row) ?? '', ...others] = hostsOf(row)
    this.replace(id, first)
    for (const name of others) this.add(name, row.origin)
  }
  useCorrections(): void {
    for (const row of this.rows) if (row.state === 'correctable') this.use(row.id)
  }
  remove(isRemoved: (row: Row) => boolean): void {
    for (const row of this.rows) if (isRemoved(row)) this.#drop(row.id)
    if (this.size === 0) this.repeated = 0
    this.enterRoom(this.#room)
  }
  /** Notes what the user writes in place of a wrong name; `undefined` ends the writing. */
  write(id: number, draft: string | undefined): void {
    const row = this.#rows[id]
    if (row && isWrong(row)) this.#put({ ...row, draft })
  }

  /**
   * Enters the results of a preview into the rows that have not been checked. Of rows with the same canonical form, the
   * first one stays, in whatever order their results come.
   */
  enterPreviews(results: readonly PreviewResult[]): void {
    for (const result of results) {
      const row = this.#find(result.input)
      if (row?.state !== 'unchecked') continue
      if (result.status === 'invalid') {
        this.#put({ ...toBase(row), ...toWrong(result) })
        continue
      }
      const other = this.#byDomain.get(result.domain)
      if (other !== undefined) this.#leaveOut(Math.max(other, row.id))
      const state = result.status === 'existing' ? 'existing' : 'ready'
      if (other === undefined || other > row.id) this.#put({ ...toBase(row), domain: result.domain, state })
    }
  }
  /** Without previews, names are checked when they are registered. */
  skipPreviews(): void {
    for (const row of this.rows) if (row.state === 'unchecked') this.#put({ ...toBase(row), state: 'ready' })
  }
  /** Enters for how many more names the team's limit leaves room. The first rows get it. */
  enterRoom(room: number | null): void {
    this.#room = room
    if (room === null && this.count('full') === 0) return
    let left = room ?? Number.POSITIVE_INFINITY
    for (const row of this.rows) {
      if (row.state !== 'ready' && row.state !== 'full') continue
      left -= 1
      const state = left < 0 ? 'full' : 'ready'
      if (state !== row.state) this.#put({ ...row, state })
    }
  }
  enterRegistrations(results: readonly DomainResult[]): void {
    for (const result of results) {
      const row = this.#find(result.input)
      if (!row) continue
      if (result.status === 'invalid' && row.state === 'waits') {
        this.#put({ ...toBase(row), state: 'kept', message: result.message })
      } else if (result.status === 'invalid') this.#put({ ...toBase(row), ...toWrong(result) })
      else {
        if (this.#room !== null && result.status === 'created') this.#room -= 1
        this.#put({ ...toBase(row), domain: result.domain, state: 'registered' })
      }
    }
  }
  /**
   * Follows the deletion of registered names: their rows are removed. Rows that had no room, or conflicted with a
   * registered name of the user, must be checked again.
   */
  followDeletion(domains: readonly string[]): void {
    for (const domain of domains) {
      const row = this.#rows[this.#byDomain.get(domain) ?? -1]
      if (row?.state === 'existing' || row?.state === 'registered') this.#drop(row.id)
    }
    this.recheck(row => row.state === 'full' || (isWrong(row) && ownConflicts.has(row.rejection.code)))
  }
  recheck(isRechecked: (row: Row) => boolean): void {
    for (const row of this.rows)
      if (isRechecked(row)) this.#put({ ...toBase(row), record: row.record, state: 'unchecked' })
  }

  #find(text: string): Row | undefined {
    return this.#rows[this.#byText.get(text) ?? -1]
  }
  #put(row: Row): void {
    this.#forget(row.id)
    this.#rows[row.id] = row
    this.#byText.set(row.text, row.id)
    if (row.domain !== undefined) this.#byDomain.set(row.domain, row.id)
    this.#counts.set(row.state, this.count(row.state) + 1)
  }
  #drop(id: number): void {
    this.#forget(id)
    this.#rows[id] = undefined
  }
  #leaveOut(id: number): void {
    this.repeated += 1
    this.#drop(id)
  }
  #forget(id: number): void {
    this.#shown = undefined
    const row = this.#rows[id]
    if (!row) return
    this.#byText.delete(row.text)
    if (row.domain !== undefined) this.#byDomain.delete(row.domain)
    this.#counts.set(row.state, this.count(row.state) - 1)
  }
}

const ownConflicts: ReadonlySet<string> = new Set(['wildcard_conflict', 'subdomain_conflict'])

/** A longer text is not a name, and drawing it would block the page. */
const cut = (text: string) => (text.length > MAX_INPUT_LENGTH ? `${text.slice(0, MAX_INPUT_LENGTH)}…` : text)

const toBase = ({ id, origin, text }: Row) => ({ id, origin, text })
