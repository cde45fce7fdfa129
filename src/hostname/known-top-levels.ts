/**
 * Top-level labels in the public DNS that were met so far. All of them are on the Public Suffix List, so they cannot grow past
 * it. Nineteen names in twenty end in a label so short that it fits in an integer: found without making a string of it and
 * hashing that, as a `Set` would. A hash table with linear probing, in which 0 is an empty slot.
 */
const shortLabels = new Int32Array(4096)
const longLabels = new Set<string>()

/** In characters of ASCII, of seven bits each. */
const MAX_SHORT_LABEL = 4

/** @param start Where the last label of the name begins. */
export function isKnownTopLevel(name: string, start: number): boolean {
  if (name.length - start > MAX_SHORT_LABEL) return longLabels.has(name.slice(start))
  return shortLabels[findSlot(packEnd(name, start))] !== 0
}

export function rememberTopLevel(label: string): void {
  if (label.length > MAX_SHORT_LABEL) longLabels.add(label)
  else shortLabels[findSlot(packEnd(label, 0))] = packEnd(label, 0)
}

function packEnd(name: string, start: number): number {
  let packed = 0
  for (let index = start; index < name.length; index += 1) packed = (packed << 7) | name.charCodeAt(index)
  return packed
}

/** The slot that holds a label, or the empty one where it would be. The list has a sixth as many as there are slots. */
function findSlot(packed: number): number {
  let slot = Math.imul(packed, 0x9e3779b1) >>> 20
  while (shortLabels[slot] !== 0 && shortLabels[slot] !== packed) slot = (slot + 1) & 4095
  return slot
}
