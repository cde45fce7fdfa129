import { previewAll, type RegisterAllOptions, type RegisterResult, registerAll } from '../../client/operations.ts'
import type { PreviewResult } from '../../wire/results.ts'
import type { RegisteredName } from '../types.ts'
import { MOST_READ, type PastedTable, readFile, readList } from './read-list.ts'
import { listRecords, type WantedRecord } from './records.ts'
import { isWrong, NameList, problems } from './rows.ts'
import { type Ending, hasCode, isNotOffered, type Sentence, type Surroundings, Work } from './work.ts'

/** How long reading a pasted list may block the page, in milliseconds. */
const SLICE = 12
/** How many characters are read without a word to a screen reader: it would hear the result a moment later. */
const READ_AT_ONCE = 100_000

/** The list that a customer pastes, checks, corrects and registers. Draws nothing: a test needs no browser. */
export class AddList {
  readonly names = new NameList()
  readonly work: Work
  /** What has happened. */
  status: Sentence | undefined
  isDone = false
  /** What is wrong with what was pasted. */
  notice: Sentence | undefined
  /** A pasted table, while the user chooses its column. */
  table: PastedTable | undefined
  /** Whether a file or a text is being read. */
  isReading = false
  /** Files that are read after the user has chosen the column of an earlier one. */
  #files: readonly Blob[] = []
  /** Whether the field for pasting is shown although the list has names. */
  isAdding = false
  /** Whether only the rows with a problem are shown. */
  isFiltered = false
  /** After a stop or a failure, nothing begins until the user continues. */
  isStopped = false
  /** Whether names were added since the last check: if some are wrong, these are shown first. */
  #hasNew = false
  /** Counts the lists: what is still being read when the list is cleared is not added. */
  #turn = 0
  readonly #around: Surroundings
  readonly #onRegistered: (names: readonly RegisteredName[]) => void

  constructor(around: Surroundings, onRegistered: (names: readonly RegisteredName[]) => void) {
    this.#around = around
    this.#onRegistered = onRegistered
    this.work = new Work(around)
  }

  /** Reads files one after another. A table waits for the choice of its column, and the files behind it too. */
  async pasteFiles(files: readonly Blob[]): Promise<void> {
    const turn = this.#turn
    for (const [index, file] of files.entries()) {
      this.isReading = true
      this.#around.changed()
      // A dropped folder cannot be read.
      const text = file.size > MOST_READ ? '' : await readFile(file).catch(() => undefined)
      if (turn !== this.#turn) return
      this.isReading = false
      if (file.size > MOST_READ) this.#refuse(words => words.tooLarge(MOST_READ))
      else if (text === undefined) this.#refuse(words => words.notText)
      else {
        await this.paste(text)
        if (this.table) {
          this.#files = files.slice(index + 1)
          return
        }
      }
    }
  }
  #refuse(notice: Sentence): void {
    this.notice = notice
    this.#around.changed()
  }
  /** @returns Whether the text has names, or a table that may have some. */
  async paste(text: string): Promise<boolean> {
    if (text.length > MOST_READ) {
      this.#refuse(words => words.tooLarge(MOST_READ))
      return false
    }
    const onPause = () => this.#around.say(words => words.reading)
    const pasted = await this.#inSlices(readList(text), text.length > READ_AT_ONCE ? onPause : undefined)
    if (!pasted) return false
    const { openQuote } = pasted
    this.notice = openQuote === undefined ? undefined : words => words.openQuote(openQuote)
    if ('names' in pasted) return this.add(pasted.names)
    this.table = pasted
    this.#around.focus('#column')
    return true
  }
  async takeColumn(index: number | undefined): Promise<void> {
    const column = index === undefined ? undefined : this.table?.columns[index]
    const files = this.#files
    this.table = undefined
    this.#files = []
    if (column) await this.add(column.cells)
    else this.#around.focus('#paste')
    await this.pasteFiles(files)
  }
  /** @returns Whether there are names among the texts. */
  async add(pasted: readonly string[]): Promise<boolean> {
    const { names } = this
    function* addAll() {
      for (const name of pasted) yield names.add(name)
      return true
    }
    if (!(await this.#inSlices(addAll()))) return false
    if (pasted.every(name => name.trim() === '')) {
      this.#refuse(words => words.nothingFound)
      return false
    }
    this.#hasNew = true
    this.work.failure = undefined
    this.isFiltered = false
    this.isAdding = false
    this.#around.focus('#add-status')
    await this.check()
    return true
  }
  /**
   * Lets the page draw and react now and then.
   *
   * @param onPause Called if it takes longer than one slice.
   * @returns `undefined` if the list was cleared meanwhile.
   */
  async #inSlices<Result>(steps: Generator<unknown, Result>, onPause?: () => void): Promise<Result | undefined> {
    const turn = this.#turn
    let isFirst = true
    for (let end = performance.now() + SLICE; turn === this.#turn; ) {
      const { done, value } = steps.next()
      if (done) {
        this.isReading = false
        return value
      }
      if (performance.now() < end) continue
      this.isReading = true
      if (isFirst) onPause?.()
      isFirst = false
      this.#around.changed(true)
      await new Promise(resolve => setTimeout(resolve))
      end = performance.now() + SLICE
    }
    return undefined
  }
  addMore(): void {
    this.isAdding = true
    this.#around.focus('#paste')
  }

  edit(change: (names: NameList) => void): void {
    if (this.names.size === 0) return
    change(this.names)
    this.#settle()
  }
  /** For a change at which the user wants a check, even after a stop. */
  editAndCheck(change: (names: NameList) => void): void {
    change(this.names)
    void this.check()
  }
  stop(): void {
    this.#turn += 1
    this.work.stop()
  }
  clear(): void {
    this.stop()
    this.edit(names => names.remove(() => true))
  }
  filter(isFiltered: boolean): void {
    this.isFiltered = isFiltered
    this.#around.changed()
  }
  /** The DNS records that names need which the service does not keep. */
  get records(): readonly WantedRecord[] {
    return this.names.count('unproven') === 0
      ? []
      : listRecords(this.names.rows.map(row => ({ ...row, message: isWrong(row) ? row.rejection.message : undefined })))
  }
  /** Checks the names again that need a record. The button keeps the focus meanwhile, so it is not disabled. */
  async checkRecord({ texts, record: { zone } }: WantedRecord): Promise<void> {
    const { names, work } = this
    if (work.kind) return
    const wanted = new Set(texts)
    names.recheck(({ text }) => wanted.has(text))
    await this.check()
    const rows = names.rows.filter(({ text }) => wanted.has(text))
    if (rows.some(({ state }) => state === 'unproven')) this.#around.say(words => words.recordMissing(zone))
    else if (rows.every(({ state }) => state !== 'unchecked')) {
      const ready = names.count('ready')
      this.#report(words => words.recordFound(zone, ready))
      this.#around.focus('#add-status')
    }
    this.#around.changed()
  }

  /** The next step: to check what is unchecked, otherwise to register what is ready. */
  goOn(): void {
    void (this.names.count('unchecked') > 0 ? this.check() : this.register())
  }

  async check(): Promise<void> {
    const { names } = this
    const unchecked = names.texts('unchecked')
    this.#begin()
    const ending = await this.work.run('check', unchecked.length, async (options, onStep) => {
      const onProgress = ({ done, results }: { done: number; results: readonly PreviewResult[] }) => {
        names.enterPreviews(results)
        onStep(done)
      }
      try {
        if (unchecked.length > 0)
          names.enterRoom((await previewAll(unchecked, { ...options, onProgress })).room ?? null)
      } catch (error) {
        if (!isNotOffered(error)) throw error
        names.skipPreviews()
      }
    })
    // Names that were added meanwhile are checked next.
    if (ending === 'done' && names.count('unchecked') === 0) {
      const counts = this.#count()
      const { repeated } = counts
      names.repeated = 0
      this.#around.say(words => words.checked(counts))
      // Follows the rows that are removed afterwards.
      this.status = words => words.checked({ ...this.#count(), repeated })
      if (this.#hasNew) this.isFiltered = counts.correctable + counts.hopeless > 0
      this.#hasNew = false
    }
    this.#end(ending)
  }

  async register(): Promise<void> {
    const { names } = this
    const total = names.count('ready', 'waits')
    const registered: RegisteredName[] = []
    this.isFiltered = false
    this.notice = undefined
    this.#begin()
    const ending = await this.work.run('register', total, async (options, onStep) => {
      const onProgress = ({ results }: { results: readonly RegisterResult[] }) => {
        names.enterRegistrations(results)
        for (const result of results) if (result.status !== 'invalid') registered.push(result)
        onStep(total - names.count('ready', 'waits'))
      }
      await this.#registerWhatFits({ ...options, onProgress })
    })
    if (ending === 'done' && (registered.length > 0 || names.count('kept') > 0)) {
      const counts = this.#count()
      this.#report(words => words.registered(counts))
      this.isDone = true
    }
    if (registered.length > 0 || names.count('kept') > 0) this.#onRegistered(registered)
    this.#end(ending)
  }

  /**
   * Registers all that is ready. If there is no room for a call, since the limit or the number of registered names has
   * changed, registers fewer names at a time, until a single one has no room.
   */
  async #registerWhatFits(options: RegisterAllOptions): Promise<void> {
    const { names } = this
    for (let size = Number.POSITIVE_INFINITY; names.count('ready', 'waits') > 0; ) {
      const rest = names.texts('ready', 'waits').slice(0, size)
      try {
        await registerAll(rest, options)
      } catch (error) {
        if (!hasCode(error, 'domain_limit_reached')) throw error
        size = Math.min(size, names.count('ready', 'waits')) >> 1
        if (size > 0) continue
        names.enterRoom(0)
        this.work.fail(error)
      }
    }
  }

  #count() {
    const { names } = this
    return {
      ready: names.count('ready'),
      registered: names.count('registered'),
      correctable: names.count('correctable', 'guessed'),
      hopeless: names.count('hopeless'),
      waiting: names.count('waits', 'kept', 'unproven'),
      full: names.count('full'),
      repeated: names.repeated,
    }
  }
  #begin(): void {
    if (!this.work.kind) Object.assign(this, { isStopped: false, isDone: false, status: undefined })
  }
  #end(ending: Ending): void {
    if (ending === 'busy') {
      this.#around.changed()
      return
    }
    const left = this.names.count('ready', 'waits', 'unchecked')
    this.isStopped = ending !== 'done'
    if (ending === 'stopped' && left > 0) this.#report(words => words.stopped(left))
    this.#settle()
  }
  /** After a change: an empty list is like a new one, and rows that must be checked are checked. */
  #settle(): void {
    const { names } = this
    if (names.count(...problems) === 0) this.isFiltered = false
    if (names.size === 0) {
      Object.assign(this, { status: undefined, notice: undefined, isDone: false, isStopped: false, isAdding: false })
      this.work.failure = undefined
      this.#around.focus('#paste')
    } else if (names.count('unchecked') > 0 && !this.isStopped && !this.work.kind) void this.check()
    this.#around.changed()
  }
  #report(sentence: Sentence): void {
    this.status = sentence
    this.#around.say(sentence)
  }
}
