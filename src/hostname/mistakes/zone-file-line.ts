/**
 * The data of each type of record that people paste, as one pattern after the type. Names may be relative, or `@` for
 * the origin of the file.
 */
const dataOf: Readonly<Record<string, RegExp>> = {
  A: /^\d+(?:\.\d+){3}$/,
  AAAA: /^(?=.*:)[\da-f.:]+$/i,
  CAA: /^\d+\s+[a-z]+\s+\S/i,
  CNAME: /^\S*$/,
  MX: /^\d+(?:\s+\S*)?$/,
  NS: /^\S+$/,
  PTR: /^\S+$/,
  SOA: /^\S+\s+\S+\s+[\d(]/,
  SRV: /^\d+\s+\d+\s+\d+(?:\s+\S*)?$/,
  TXT: /^\S/,
}

/** The data of any type, in hexadecimal digits (RFC 3597). */
const unknownData = /^\\#\s+\d/

/**
 * Returns whether a text is a record of a zone file (RFC 1035, section 5): a name, then a TTL and a class in either
 * order, each of which may be missing, then a type and its data. A TTL may have units, as in BIND: `1h30m`.
 *
 * A class, a TTL, a dot at the end of the name or a type in upper case tells a record from a sentence such as `Plan a
 * example`. A short type in upper case must have data that look like data. So must a type that is not listed here,
 * after a class, a TTL or a name that ends in a dot.
 *
 * @param text Trimmed, without a trailing dot.
 */
export function isZoneFileLine(text: string): boolean {
  const words = text.replace(/\s;.*/s, '').trim().split(/\s+/)
  const [owner = '', ...rest] = words
  let isMarked = false
  while (/^(?:IN|\d+|(?:\d+[smhdw])+)$/i.test(rest[0] ?? '')) {
    rest.shift()
    isMarked = true
  }
  const [type = '', ...parts] = rest
  const data = parts.join(' ')
  const isUpperCase = /^[A-Z][A-Z\d]*$/.test(type)
  const looksLikeData = /[.:"@\d]/.test(data)
  const isRooted = /^[\w@*\\.-]+\.$/.test(owner)
  const pattern = dataOf[type.toUpperCase()]
  if (pattern === undefined) return (isMarked || isRooted) && isUpperCase && looksLikeData
  if (!pattern.test(data) && !unknownData.test(data)) return false
  if (isMarked || isRooted) return true
  return /^[\w@*\\.-]+$/.test(owner) && isUpperCase && (type.length > 3 || looksLikeData)
}
