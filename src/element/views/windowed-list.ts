import { render, type TemplateResult } from 'lit'
import { repeat } from 'lit/directives/repeat.js'

/** How far beyond the visible part entries are drawn, in pixels. */
const OVERSCAN = 300
/** A list of so many entries is drawn as a whole, so the browser's search and screen readers find each of them. */
const MOST_WHOLE = 100
/** The assumed height of an entry that has not been drawn yet, in pixels. */
const ASSUMED_HEIGHT = 52

/** Milliseconds after which a frame is not waited for any more. */
const LONGEST_FRAME = 100

/** Waits for the next frame of a document. A page that is hidden, or whose window has been closed, draws none. */
export const nextFrame = ({ defaultView }: Document): Promise<unknown> =>
  new Promise(resolve => {
    defaultView?.requestAnimationFrame(resolve)
    setTimeout(resolve, LONGEST_FRAME)
  })

interface Keyed {
  readonly id: number | string
}

/**
 * Draws only the entries near the visible part of a box that scrolls. Entries may have different heights: each is
 * measured when it is drawn. An entry in which the user writes stays drawn; from a button or checkbox that is scrolled
 * away, the focus moves to the box, never to another entry.
 */
export class WindowedList<Entry extends Keyed> {
  #entries: readonly Entry[] = []
  #draw: ((entry: Entry) => TemplateResult) | undefined
  #box: HTMLElement | undefined
  #tops = new Float64Array(1)
  /** The index from which on the tops must be summed up anew. */
  #staleFrom = 0
  #isPlanned = false
  #width = 0
  /** Whether there are more entries than those that are known. */
  #hasMore = false
  #isPrinted = false
  readonly #heights = new Map<Entry['id'], number>()
  /** Of the window in which the box stands: another one may be closed, or hidden. */
  #observed: { readonly view: Window; readonly observer: ResizeObserver } | undefined

  /** For the directive `ref` of the box, which has one empty element. */
  readonly attach = (box: Element | undefined): void => {
    this.#box = box as HTMLElement | undefined
    this.#observed?.observer.disconnect()
    this.#observed = undefined
  }
  #observe(box: HTMLElement): void {
    const view = box.ownerDocument.defaultView
    if (view === this.#observed?.view || !view?.ResizeObserver) return
    this.#observed?.observer.disconnect()
    const observer = new view.ResizeObserver(() => this.#onResize())
    observer.observe(box)
    this.#observed = { view, observer }
  }
  show(entries: readonly Entry[], draw: (entry: Entry) => TemplateResult, hasMore = false): void {
    this.#hasMore = hasMore
    if (entries !== this.#entries) this.#staleFrom = 0
    this.#entries = entries
    this.#draw = draw
  }
  readonly plan = async (): Promise<void> => {
    if (this.#isPlanned || !this.#box) return
    this.#isPlanned = true
    await nextFrame(this.#box.ownerDocument)
    this.#isPlanned = false
    this.draw()
  }
  scrollToTop(): void {
    if (this.#box) this.#box.scrollTop = 0
  }
  /** The entry that an event is about. */
  entryOf({ target }: Event): Entry | undefined {
    return this.#entries[indexOf((target as Element).closest<HTMLElement>('.row'))]
  }

  #onResize(): void {
    const { clientWidth } = this.#box as HTMLElement
    if (clientWidth !== this.#width) {
      this.#heights.clear()
      this.#staleFrom = 0
    }
    this.#width = clientWidth
    void this.plan()
  }

  /** Draws all entries for as long as the page is printed. */
  print(isPrinted: boolean): void {
    this.#isPrinted = isPrinted
    this.draw()
  }
  draw(): void {
    if (!this.#box) return
    this.#observe(this.#box)
    // Measuring an entry may move others into view, so this is repeated, with a bound.
    for (let round = 0; round < 4; round += 1) if (!this.#drawVisible(this.#box)) break
  }

  /** @returns Whether a height has changed. */
  #drawVisible(box: HTMLElement): boolean {
    this.#sumUp()
    const [entries, tops, inner] = [this.#entries, this.#tops, box.firstElementChild as HTMLElement]
    const { scrollTop, clientHeight } = box
    const isWhole = this.#isPrinted || entries.length <= MOST_WHOLE
    const first = isWhole ? 0 : this.#indexAt(scrollTop - OVERSCAN)
    const last = isWhole ? entries.length : this.#indexAt(scrollTop + clientHeight + OVERSCAN)
    const wanted: number[] = []
    for (let index = first; index <= last && index < entries.length; index += 1) wanted.push(index)
    const focused = this.#indexOfFocused(box)
    if (focused >= 0 && (focused < first || focused > last)) {
      // What is being written stays; but a key must not press what nobody sees.
      if (!(box.getRootNode() as ShadowRoot).activeElement?.matches('[type=text]')) box.focus({ preventScroll: true })
      else if (focused < first) wanted.unshift(focused)
      else wanted.push(focused)
    }
    render(
      repeat(
        wanted,
        index => entries[index]?.id,
        index => this.#draw?.(entries[index] as Entry),
      ),
      inner,
    )
    inner.style.height = `${tops[entries.length]}px`
    const nodes = [...inner.children] as HTMLElement[]
    for (const [at, node] of nodes.entries()) {
      const index = wanted[at] as number
      // An inline style in a template is an attribute, which a strict Content-Security-Policy forbids.
      node.style.top = `${tops[index]}px`
      node.dataset.index = String(index)
      node.ariaPosInSet = String(index + 1)
      node.ariaSetSize = this.#hasMore ? '-1' : String(entries.length)
    }
    const heights = nodes.map(node => node.offsetHeight)
    let hasChanged = false
    for (const [at, index] of wanted.entries()) {
      const [{ id }, height] = [entries[index] as Entry, heights[at] as number]
      const known = this.#heights.get(id)
      if (height === 0 || height === known) continue
      this.#heights.set(id, height)
      if (height === (known ?? ASSUMED_HEIGHT)) continue
      hasChanged = true
      this.#staleFrom = Math.min(this.#staleFrom, index)
    }
    return hasChanged
  }

  #sumUp(): void {
    const size = this.#entries.length
    if (this.#tops.length !== size + 1) {
      this.#tops = new Float64Array(size + 1)
      this.#staleFrom = 0
    }
    for (let index = this.#staleFrom; index < size; index += 1) {
      const height = this.#heights.get((this.#entries[index] as Entry).id) ?? ASSUMED_HEIGHT
      this.#tops[index + 1] = (this.#tops[index] as number) + height
    }
    this.#staleFrom = size
  }
  /** The index of the entry at a height. */
  #indexAt(y: number): number {
    let [low, high] = [0, this.#entries.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#tops[middle + 1] as number) < y) low = middle + 1
      else high = middle
    }
    return low
  }
  #indexOfFocused(box: HTMLElement): number {
    const row = (box.getRootNode() as ShadowRoot).activeElement?.closest<HTMLElement>('.row')
    if (!row || !box.contains(row)) return -1
    const likely = indexOf(row)
    const id = row.dataset.id
    return String(this.#entries[likely]?.id) === id ? likely : this.#entries.findIndex(entry => String(entry.id) === id)
  }
}

const indexOf = (row: HTMLElement | null): number => Number(row?.dataset.index ?? -1)
