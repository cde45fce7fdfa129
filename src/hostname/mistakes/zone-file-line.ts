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
  MX: /^\d+(?:\s+\S*)?$/,
  NAPTR: /^\d+\s+\d+\s+"/,
  NS: /^\S+$/,
  PTR: /^\S+$/,
  SOA: /^\S+\s+\S+\s+[\d(]/,
  SPF: /^\S/,
  SRV: /^\d+\s+\d+\s+\d+(?:\s+\S*)?$/,
  SSHFP: /^\d+\s+\d+\s+[\da-f]/i,
  SVCB: /^\d+\s+\S/,
  TLSA: /^\d+\s+\d+\s+\d+\s+[\da-f]/i,
  TXT: /^\S/,
}

/** Other types of records, whose data may be anything. */
const otherTypes: ReadonlySet<string> = new Set(
  (
    'AFSDB APL CDNSKEY CDS CERT CSYNC DHCID DLV EUI48 EUI64 HINFO HIP IPSECKEY ISDN KX LOC MB MG MINFO MR NSEC NSEC3 ' +
    'NSEC3PARAM OPENPGPKEY PX RP RRSIG RT SMIMEA URI WKS X25 ZONEMD'
  ).split(' '),
)

/** The data of any type, in hexadecimal digits (RFC 3597). */
const unknownData = /^\\#\s+\d/

/**
 * Returns whether a text is a record of a zone file (RFC 1035, section 5): a name, then a TTL and a class in either
 * order, each of which may be missing, then a type and its data. A TTL may have units, as in BIND: `1h30m`.
 *
 * A class, a TTL, a dot at the end of the name or a type in upper case tells a record from a sentence such as `Plan a
 * example`. A short type in upper case must have data that look like data.
 *
 * @param text Trimmed, without a trailing dot.
 */
export function isZoneFileLine(text: string): boolean {
  const words = text.replace(/\s;.*/s, '').trim().split(/\s+/)
  const [owner = '', ...rest] = words
  let isMarked = false
  while (/^(?:IN|CH|HS|\d+|(?:\d+[smhdw])+)$/i.test(rest[0] ?? '')) {
    rest.shift()
    isMarked = true
  }
  const [type = '', ...parts] = rest
  const data = parts.join(' ')
  const isOther = otherTypes.has(type) || /^TYPE\d+$/.test(type)
  const pattern = dataOf[type.toUpperCase()] ?? (isOther ? /^\S/ : undefined)
  if (pattern === undefined || !(pattern.test(data) || unknownData.test(data))) return false
  if (isMarked) return true
  if (!/^[\w@*\\.-]+$/.test(owner)) return false
  return owner.endsWith('.') || (/^[A-Z\d]+$/.test(type) && (type.length > 3 || /[.:"@\d]/.test(data)))
}
