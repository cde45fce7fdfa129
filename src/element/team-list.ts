import { listAll } from '../client/list-all.ts'
import { deleteAll } from '../client/operations.ts'
import { showHostname } from '../hostname/display-rules.ts'
import type { ListedDomain } from '../wire/results.ts'
import { hasCode, isNotOffered, type Sentence, type Surroundings, Work } from './work.ts'

/** The service accepts only known top-level domains, so the element needs no list of them, which is large. */
export const display = (domain: string): string => showHostname(domain, () => true)

export interface Entry extends ListedDomain {
  readonly id: string
  /** The name as people read it. */
  readonly shown: string
}

type Names = AsyncGenerator<ListedDomain, void, undefined>

/** How many names are shown before "Show more": a page of the service. */
const PAGE = 1000
/** How many names are looked through for letters that are no whole name. */
const MOST_SEARCHED = 20_000

/** The names of the team: read page by page, searched, chosen and deleted. Draws nothing: a test needs no browser. */
export class TeamList {
  readonly work: Work
  entries: readonly Entry[] = []
  /** The rest of the names, if there are more. */
  rest: Names | undefined
  /** Whether the service lists names, for this user; unknown until it has responded. */
  isOffered: boolean | undefined
  mayDelete = false
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
  readonly #onDeleted: (domains: readonly string[]) => void

  constructor(around: Surroundings, onDeleted: (domains: readonly string[]) => void) {
    this.#around = around
    this.#onDeleted = onDeleted
    this.work = new Work(around)
  }

  get shown(): readonly Entry[] {
    const { entries, letters } = this
    return this.#isNarrowing && letters !== '' ? entries.filter(entry => has(entry, letters)) : entries
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
  async more(): Promise<void> {
    if (this.rest) await this.#readPage(this.rest, this.entries, PAGE)
  }

  /** All names, newest first; or the name that is looked for and those below it, or those that have its letters. */
  async *#readAll(): Names {
    const options = this.work.options()
    const { question } = this
    if (question === '') return yield* listAll({ ...options, order: 'newest' })
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

  async #readPage(names: Names, before: readonly Entry[], size: number): Promise<void> {
    this.#turn += 1
    const turn = this.#turn
    const page: Entry[] = []
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
      if (this.entries.length > 0) this.mayDelete ||= await this.#canDelete()
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
  /** Nothing is deleted: `localhost` cannot be registered. A service without this operation fails. */
  async #canDelete(): Promise<boolean> {
    try {
      await deleteAll(['localhost'], { ...this.#around.callOptions(), patience: 0 })
      return true
    } catch {
      return false
    }
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
      for (const { id, domain } of entries) if (gone.has(domain)) this.#ticked.delete(id)
      this.entries = this.entries.filter(({ domain }) => !gone.has(domain))
      this.status = words => words.deleted(gone.size)
      this.#around.say(this.status)
      this.#onDeleted([...gone])
    }
    if (ending === 'failed') this.retry = () => void this.delete(entries.filter(({ domain }) => !gone.has(domain)))
    else await this.load()
  }
}

const toEntry = (listed: ListedDomain): Entry => ({ ...listed, id: listed.domainId, shown: display(listed.domain) })
const has = ({ domain, shown }: Entry, letters: string) => domain.includes(letters) || shown.includes(letters)
