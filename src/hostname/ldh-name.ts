/** RFC 1035, section 2.3.4. */
export const MAX_NAME_LENGTH = 253
export const MAX_LABEL_LENGTH = 63

/** RFC 1123, section 2.1: lower-case letters, digits and inner hyphens. */
export const isLdhLabel = (text: string) => /^[a-z0-9]+(?:-+[a-z0-9]+)*$/.test(text)

/** Tells whether a name is canonical without A-labels: there is nothing in it to trim, to map or to decode. */
export const isPlainName = (text: string) =>
  text.length <= MAX_NAME_LENGTH && /^(?:(?!xn--)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.|$))+$(?<!\.)/.test(text)

/** Returns the last label of a name. */
export const topLevelOf = (name: string) => name.slice(name.lastIndexOf('.') + 1)
