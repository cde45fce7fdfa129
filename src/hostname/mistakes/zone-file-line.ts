/**
 * The data of each type of record that people paste, as one pattern after the type. Names may be relative, or `@` for
 * the origin of the file.
 */
const dataOf: Readonly<Record<string, RegExp>> = {
  A: /^\d+(?:\.\d+){3}$/,
  AAAA: /^(?=.*:)[\da-f.:]+$/i,
  CAA: /^\d+\s+[a-z]+\s+\S/i,
  CNAME: /^\S*$/,
  DNAME: /^\S*$/,
  DNSKEY: /^\d+\s+\d+\s+\d+\s+\S/,
  DS: /^\d+\s+\d+\s+\d+\s+[\da-f]/i,
  HTTPS: /^\d+\s+\S/,
  MX: /^\d+\s+\S+$/,
  NAPTR: /^\d+\s+\d+\s+"/,
  NS: /^\S+$/,
  PTR: /^\S+$/,
  SOA: /^\S+\s+\S+\s+[\d(]/,
  SPF: /^\S/,
  SRV: /^\d+\s+\d+\s+\d+\s+\S+$/,
  SSHFP: /^\d+\s+\d+\s+[\da-f]/i,
  SVCB: /^\d+\s+\S/,
  TLSA: /^\d+\s+\d+\s+\d+\s+[\da-f]/i,
  TXT: /^\S/,
}

/**
 * Returns whether a text is a record of a zone file (RFC 1035, section 5): a name, then a TTL and a class in either
 * order, each of which may be missing, then a type and its data. A TTL may have units, as in BIND: `1h30m`.
 *
 * Upper case, a class, a TTL or a dot at the end of a name tells a record from a sentence such as `Plan a example`.
 */
export function isZoneFileLine(text: string): boolean {
  const words = text.replace(/\s;.*/s, '').split(/\s+/)
  const [owner = '', ...rest] = words
  if (!/^[\w@*\\.-]+$/.test(owner)) return false
  let isMarked = false
  while (/^(?:IN|CH|HS|\d+|(?:\d+[smhdw])+)$/i.test(rest[0] ?? '')) {
    rest.shift()
    isMarked = true
  }
  const [type = '', ...data] = rest
  const pattern = dataOf[type.toUpperCase()]
  if (pattern === undefined || !pattern.test(data.join(' '))) return false
  return isMarked || owner.endsWith('.') || (/^[A-Z]+$/.test(type) && /[.:"@\d]/.test(data[0] ?? ''))
}
