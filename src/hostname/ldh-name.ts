/** The greatest length of a name (RFC 1035, section 2.3.4). */
export const MAX_NAME_LENGTH = 253
/**
 * A longer input is rejected without being mapped. Although a name has at most 253 octets, an input for it may be
 * longer, because UTS #46 removes some characters and combines others.
 */
export const MAX_INPUT_LENGTH = 512
export const MAX_LABEL_LENGTH = 63

/**
 * Returns whether a name is certainly canonical, as most names are: there is nothing to trim, map or decode. The whole
 * name is at most as long as a label may be, so no label is too long. The name has no two hyphens in a row, so no label
 * is an A-label.
 */
export const isPlainName = (text: string) =>
  text.length <= MAX_LABEL_LENGTH && /^[a-z0-9]+(?:[.-][a-z0-9]+)*$/.test(text)

export const topLevelOf = (name: string) => name.slice(name.lastIndexOf('.') + 1)
