/** An entry of a list. It is drawn again when another object with the same `id` takes its place. */
export interface ListEntry {
  readonly id: number | string
}

/** How far beyond the visible part entries are drawn, in pixels. */
const OVERSCAN = 400
/** The assumed height of an entry that has not been drawn yet, in pixels. */
const ASSUMED_HEIGHT = 52
const CONTROL = 'button, input'

/**
 * A list that scrolls and draws only the entries near its visible part, so 10,000 entries stay smooth. Entries may have
 * different heights: each is measured when it is drawn.
 */
export function createWindowedList<Entry extends ListEntry>(draw: (entry: Entry) => HTMLElement) {
  const box = document.createElement('div')
  const inner = document.createElement('div')
  box.className = 'list'
  box.setAttribute('part', 'list')
  box.setAttribute('role', 'list')
  box.tabIndex = 0
  inner.className = 'inner'
  inner.setAttribute('role', 'presentation')
  box.append(inner)

  let entries: readonly Entry[] = []
  const heights = new Map<Entry['id'], number>()
  const drawn = new Map<Entry['id'], { readonly node: HTMLElement; readonly entry: Entry }>()
  let isPlanned = false

  function plan(): void {
    if (isPlanned) return
    isPlanned = true
    requestAnimationFrame(() => {
      isPlanned = false
      layOut()
    })
  }

  function layOut(): void {
    const active = (box.getRootNode() as ShadowRoot).activeElement
    const hadFocus = active !== null && inner.contains(active)
    const from = entries.findIndex(({ id }) => drawn.get(id)?.node.contains(active))
    // Measuring an entry may move others into view, so this is repeated, with a bound.
    for (let round = 0; round < 4; round += 1) if (!drawVisible()) break
    const isLost = hadFocus && !inner.contains((box.getRootNode() as ShadowRoot).activeElement)
    if (!isLost) return
    // The entry with the focus was drawn again: its button, or that of the next entry, gets the focus.
    const controls = entries.slice(Math.max(0, from)).map(({ id }) => drawn.get(id)?.node.querySelector(CONTROL))
    const control = controls.find(each => each instanceof HTMLElement) ?? box
    control.focus({ preventScroll: true })
  }

  /** @returns Whether a height has changed. */
  function drawVisible(): boolean {
    const [top, bottom] = [box.scrollTop - OVERSCAN, box.scrollTop + box.clientHeight + OVERSCAN]
    const wanted = new Map<Entry['id'], { entry: Entry; top: number; index: number }>()
    let y = 0
    for (const [index, entry] of entries.entries()) {
      const height = heights.get(entry.id) ?? ASSUMED_HEIGHT
      if (y + height >= top && y <= bottom) wanted.set(entry.id, { entry, top: y, index })
      y += height
    }
    inner.style.height = `${y}px`
    for (const [id, { node, entry }] of drawn) {
      if (wanted.get(id)?.entry === entry) continue
      node.remove()
      drawn.delete(id)
    }
    let before: Element | null = inner.firstElementChild
    for (const [id, { entry, top, index }] of wanted) {
      let node = drawn.get(id)?.node
      if (!node) {
        node = draw(entry)
        node.setAttribute('role', 'listitem')
        drawn.set(id, { node, entry })
      }
      if (node === before) before = before.nextElementSibling
      else inner.insertBefore(node, before)
      node.style.top = `${top}px`
      node.setAttribute('aria-setsize', String(entries.length))
      node.setAttribute('aria-posinset', String(index + 1))
    }
    let hasChanged = false
    for (const [id, { node }] of drawn) {
      const height = node.offsetHeight
      if (height === 0 || height === heights.get(id)) continue
      hasChanged ||= height !== (heights.get(id) ?? ASSUMED_HEIGHT)
      heights.set(id, height)
    }
    return hasChanged
  }

  box.addEventListener('scroll', plan, { passive: true })
  let width = 0
  new ResizeObserver(() => {
    if (box.clientWidth !== width) heights.clear()
    width = box.clientWidth
    plan()
  }).observe(box)

  return {
    box,
    show(all: readonly Entry[]): void {
      entries = all
      plan()
    },
  }
}
