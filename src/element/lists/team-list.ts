import { type ListProgress, listAll } from '../../client/list-all.ts'
import { listAllWaiting } from '../../client/list-all-waiting.ts'
import { deleteAll, registerAll } from '../../client/operations.ts'
import { showHostname } from '../../hostname/display-rules.ts'
import { readDnsRecord } from '../../rules/submitted.ts'
import type { ListedDomain, WaitingDomain } from '../../wire/results.ts'
import type { RegisteredName } from '../types.ts'
import { listRecords, type WantedRecord } from './records.ts'
import { hasCode, isNotOffered, type Sentence, type Surroundings, Work } from './work.ts'

/** The service accepts only known top-level domains, so the element needs no list of them, which is large. */
export const display = (domain: string): string => showHostname(domain, () => true)

interface Shown {
  readonly id: string
  /** The name as people read it. */
  readonly shown: string
}
export interface RegisteredEntry extends ListedDomain, Shown {
  readonly state: 'registered'
}
/** A name that the service tries to register by itself, or no longer does (`failed`). */
export interface WaitingEntry extends WaitingDomain, Shown {
  readonly state: 'waits' | 'failed'
}
export type Entry = RegisteredEntry | WaitingEntry

type Names = AsyncGenerator<ListedDomain, void, undefined>

/** How many names are shown before "Show more": a page of the service. */
const PAGE = 1000
/** How many names are looked through for letters that are no whole name. */
const MOST_SEARCHED = 20_000

interface TeamEvents {
  /** Names were registered; the list is to be loaded anew. */
  registered(names: readonly RegisteredName[]): void
  deleted(domains: readonly string[]): void
}

/** The names of the team: read page by page, searched, chosen and deleted. Draws nothing: a test needs no browser. */
export class TeamList {
  readonly work: Work
  /** The registered names, newest first. */
  entries: readonly RegisteredEntry[] = []
  /** The names that are not registered yet, and those that failed while the page was open. */
  waiting: readonly WaitingEntry[] = []
  /** The rest of the names, if there are more. */
  rest: Names | undefined
  /** Whether the service lists names, for this user; unknown until it has responded. */
  isOffered: boolean | undefined
  /** The operations that the caller may use, as the service says. */
  operations: readonly string[] = []
  isLoading = false
  /** What is typed into the search. */
  letters = ''
  /** What the service was asked for. While it was asked for all names, and has sent them all, letters narrow these. */
  question = ''
  /** The names about which the user is asked whether to delete them. */
  asked: readonly Entry[] | undefined
  status: Sentence | undefined
  /** Repeats what has failed. */
  retry: (() => void) | undefined
  readonly #ticked = new Set<string>()
  /** Counts the requests for a page: the response to an earlier one is not shown. */
  #turn = 0
  readonly #around: Surroundings
  /** Names that the user has deleted since the last look: nobody is told that they failed. */
  #removed: ReadonlySet<string> = new Set()
  readonly #on: TeamEvents

  constructor(around: Surroundings, on: TeamEvents) {
    this.#around = around
    this.#on = on
    this.work = new Work(around)
  }

  /** What waits comes first. */
  get shown(): readonly Entry[] {
    const { entries, waiting, letters } = this
    const found = this.#isNarrowing && letters !== '' ? entries.filter(entry => has(entry, letters)) : entries
    return waiting.length === 0 ? found : this.#keep([...waiting.filter(entry => has(entry, letters)), ...found])
  }
  #shown: readonly Entry[] = []
  /** The same array, as long as nothing changes: then no row is measured anew. */
  #keep(entries: readonly Entry[]): readonly Entry[] {
    const known = this.#shown
    const isSame = known.length === entries.length && entries.every((entry, index) => entry === known[index])
    if (!isSame) this.#shown = entries
    return this.#shown
  }
  get mayDelete(): boolean {
    return this.operations.includes('delete')
  }
  /** How many names the service tries by itself. */
  get waitingCount(): number {
    return this.waiting.filter(({ state }) => state === 'waits').length
  }
  /** The DNS records for which names wait. */
  get records(): readonly WantedRecord[] {
    return listRecords(
      this.waiting.flatMap(({ state, domain, message, lastTried, nextTry, ...name }) => {
        const record = state === 'waits' ? readDnsRecord(name.record) : undefined
        const times = { lastTried: new Date(lastTried), nextTry: new Date(nextTry) }
        return record ? { text: domain, message, record, ...times } : []
      }),
    )
  }
  get #isNarrowing(): boolean {
    return this.question === '' && this.rest === undefined
  }
  get isSearched(): boolean {
    return this.question !== '' || this.letters !== ''
  }
  /** The chosen names that are shown: no name is deleted that the user does not see. */
  get chosen(): readonly Entry[] {
    return this.shown.filter(entry => this.isChosen(entry))
  }
  isChosen({ id }: Entry): boolean {
    return this.#ticked.has(id)
  }

  type(letters: string): void {
    this.letters = letters.trim().toLowerCase()
    this.asked = undefined
    // An emptied field shows all names again.
    if (this.letters === '' && this.question !== '') this.search()
    this.#around.changed()
  }
  search(): void {
    // What is typed has narrowed the names already.
    if (this.#isNarrowing && this.entries.length > 0) return
    this.question = this.letters
    void this.load()
  }

  load(): Promise<void> {
    // As many as are shown now, so that the list does not become shorter.
    return this.#readPage(this.#readAll(), [], Math.max(PAGE, this.question === '' ? this.entries.length : 0))
  }
  #more: Promise<void> | undefined
  /** A second click, before the button is drawn as disabled, asks for the same page. */
  more(): Promise<void> {
    if (!this.rest) return Promise.resolve()
    this.#more ??= this.#readPage(this.rest, this.entries, PAGE).finally(() => {
      this.#more = undefined
    })
    return this.#more
  }

  /** All names, newest first; or the name that is looked for and those below it, or those that have its letters. */
  async *#readAll(): Names {
    const options = this.work.options()
    const { question } = this
    const onProgress = ({ operations }: ListProgress) => {
      this.operations = operations
    }
    if (question === '') return yield* listAll({ ...options, order: 'newest', onProgress })
    let isFound = false
    for (const filter of [{ domain: question }, { below: question }]) {
      try {
        for await (const found of listAll({ ...options, ...filter })) {
          isFound = true
          yield found
        }
      } catch (error) {
        // No name matches what is no hostname, and none is below a wildcard or an IP address.
        if (!hasCode(error, 'invalid_request')) throw error
      }
    }
    if (isFound) return
    let searched = 0
    for await (const found of listAll({ ...options, order: 'newest' })) {
      if (has(toEntry(found), question)) yield found
      searched += 1
      if (searched === MOST_SEARCHED) return
    }
  }

  async #readPage(names: Names, before: readonly RegisteredEntry[], size: number): Promise<void> {
    this.#turn += 1
    const turn = this.#turn
    const page: RegisteredEntry[] = []
    let isOver = false
    this.isLoading = true
    this.work.failure = undefined
    this.#around.changed()
    try {
      while (page.length < size && !isOver) {
        const { value } = await names.next()
        if (value) page.push(toEntry(value))
        else isOver = true
      }
      if (turn !== this.#turn) return
      this.entries = [...before, ...page]
      this.rest = isOver ? undefined : names
      this.isOffered = true
      if (this.operations.includes('waiting')) this.#followWaiting(await listAllWaiting(this.work.options()), turn)
    } catch (error) {
      if (turn !== this.#turn) return
      this.isOffered = !isNotOffered(error) && !hasCode(error, 'insufficient_scope')
      if (!this.isOffered) return
      this.entries = before
      if (before.length === 0) this.rest = undefined
      this.retry = () => void this.load()
      this.work.fail(error)
    } finally {
      if (turn === this.#turn) {
        this.isLoading = false
        this.#around.changed()
      }
    }
  }
  /** Says what has become of the names that waited a moment ago. */
  #followWaiting(now: readonly WaitingDomain[], turn: number): void {
    if (turn !== this.#turn) return
    const still = new Set(now.map(({ domain }) => domain))
    const registered = new Set(this.entries.map(({ domain }) => domain))
    const gone = this.waiting.filter(({ domain }) => !still.has(domain) && !this.#removed.has(domain))
    // A search shows only what it has found, so nobody knows whether the others are registered.
    const failed = this.question === '' ? gone.filter(({ domain }) => !registered.has(domain)) : []
    const done = gone.filter(({ state, domain }) => state === 'waits' && registered.has(domain))
    const fresh = failed.filter(({ state }) => state === 'waits')
    this.#removed = new Set()
    this.waiting = [
      ...failed.map((entry): WaitingEntry => ({ ...entry, state: 'failed' })),
      ...now.map((name): WaitingEntry => ({ ...name, ...toShown(name.domain, name.domain), state: 'waits' })),
    ]
    if (done.length + fresh.length === 0) return
    this.status = words =>
      words.settled(
        done.map(({ shown }) => shown),
        fresh.map(({ shown }) => shown),
      )
    this.#around.say(this.status)
  }
  /** Looks whether something has changed, without a word if it fails: the next step of the user says why. */
  async look(): Promise<void> {
    if (this.isLoading || this.work.kind || this.isOffered !== true || this.asked) return
    const options = { ...this.#around.callOptions(), patience: 0 }
    const turn = this.#turn
    try {
      const waiting = this.operations.includes('waiting') ? await listAllWaiting(options) : []
      const page: ListedDomain[] = []
      let isWhole = true
      for await (const name of listAll({ ...options, order: 'newest' })) {
        isWhole = page.length < PAGE
        if (!isWhole) break
        page.push(name)
      }
      if (turn !== this.#turn || this.work.kind || this.asked) return
      if (this.question === '') this.#followPage(page, isWhole)
      this.#followWaiting(waiting, turn)
      this.#around.changed()
    } catch {
      // The next look, or the user, tries again.
    }
  }
  /** What is on the first page replaces what was there; names that were loaded beyond it stay. */
  #followPage(page: readonly ListedDomain[], isWhole: boolean): void {
    const known = new Map(this.entries.map(entry => [entry.id, entry]))
    const first = page.map(name => known.get(name.domainId) ?? toEntry(name))
    const last = first.at(-1)
    const place = last ? this.entries.findIndex(({ id }) => id === last.id) : -1
    const rest = isWhole ? [] : place >= 0 ? this.entries.slice(place + 1) : this.entries
    const all = [...first, ...rest]
    if (all.length === this.entries.length && all.every((entry, index) => entry === this.entries[index])) return
    this.entries = all
  }
  /** Sends the names that wait for a record again. */
  async checkRecord({ texts, record: { zone } }: WantedRecord): Promise<void> {
    if (this.work.kind) return
    const registered: RegisteredName[] = []
    const ending = await this.work.run('check', texts.length, async (options, onStep) => {
      const { results } = await registerAll(texts, { ...options, onProgress: ({ done }) => onStep(done) })
      for (const result of results) if (result.status !== 'invalid') registered.push(result)
    })
    if (ending !== 'done') return
    if (registered.length < texts.length) this.#report(words => words.recordMissing(zone))
    if (registered.length > 0) this.#on.registered(registered)
    else await this.load()
  }
  /** All registered names as CSV, whatever is shown; `undefined` if it was stopped or has failed. */
  async export(): Promise<Blob | undefined> {
    const lines = ['domain,domainId,createdAt\r\n']
    const ending = await this.work.run('export', this.entries.length, async (options, onStep) => {
      for await (const { domain, domainId, createdAt } of listAll(options)) {
        lines.push(`${domain},${domainId},${createdAt}\r\n`)
        if (lines.length % PAGE === 0) onStep(lines.length)
      }
    })
    if (ending === 'failed') this.retry = undefined
    return ending === 'done' ? new Blob(lines, { type: 'text/csv' }) : undefined
  }
  #report(sentence: Sentence): void {
    this.status = sentence
    this.#around.say(sentence)
  }

  choose(entries: readonly Entry[], isChosen: boolean): void {
    for (const { id } of entries) {
      if (isChosen) this.#ticked.add(id)
      else this.#ticked.delete(id)
    }
    this.asked = undefined
    this.#around.changed()
  }
  ask(entries: readonly Entry[] | undefined): void {
    this.asked = entries
    this.status = undefined
    this.#around.focus(entries ? '.confirm' : '.ask, [part=names] .list')
  }

  async delete(entries: readonly Entry[]): Promise<void> {
    const gone = new Set<string>()
    const domains = entries.map(({ domain }) => domain)
    this.asked = undefined
    this.status = undefined
    this.#around.focus('#names-status')
    const ending = await this.work.run('delete', domains.length, async (options, onStep) => {
      await deleteAll(domains, {
        ...options,
        onProgress: ({ done, results }) => {
          // After a lost response, the names that the call has deleted are missing.
          for (const { status, input } of results) if (status !== 'invalid') gone.add(input)
          onStep(done)
        },
      })
    })
    if (gone.size > 0) {
      this.#removed = gone
      this.waiting = this.waiting.filter(({ domain }) => !gone.has(domain))
      for (const { id, domain } of entries) if (gone.has(domain)) this.#ticked.delete(id)
      this.entries = this.entries.filter(({ domain }) => !gone.has(domain))
      this.#report(words => words.deleted(gone.size))
      this.#on.deleted([...gone])
    }
    if (ending === 'failed') this.retry = () => void this.delete(entries.filter(({ domain }) => !gone.has(domain)))
    else await this.load()
  }
}

const toShown = (id: string, domain: string): Shown => ({ id, shown: display(domain) })
const toEntry = (listed: ListedDomain): RegisteredEntry => ({
  ...listed,
  ...toShown(listed.domainId, listed.domain),
  state: 'registered',
})
const has = ({ domain, shown }: Pick<Entry, 'domain' | 'shown'>, letters: string) =>
  domain.includes(letters) || shown.includes(letters)
