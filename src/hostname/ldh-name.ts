/** RFC 1035, section 2.3.4. */
export const MAX_NAME_LENGTH = 253
export const MAX_LABEL_LENGTH = 63

/** RFC 1123, section 2.1: lower-case letters, digits and inner hyphens, in labels of 1 to 63 and 253 octets at most. */
export function isLdhName(text: string): boolean {
  return text.length <= MAX_NAME_LENGTH && ldhLabels.test(text) && !tooLongLabel.test(text)
}

const ldhLabels = /^[a-z0-9]+(?:-+[a-z0-9]+)*(?:\.[a-z0-9]+(?:-+[a-z0-9]+)*)*$/

const tooLongLabel = /[^.]{64}/

/** Returns the last label of a name. */
export const topLevelOf = (name: string) => name.slice(name.lastIndexOf('.') + 1)
