import { parse } from 'tldts'
import { describe, expect, test } from 'vitest'
import { toALabels as readLabels } from '../../src/hostname/idna/labels.ts'
import { classifyHostname } from '../../src/index.ts'
import { readCases, readLines } from '../vectors/read.ts'
import { containsPunctuation, isKnownToTr46 } from './idna/by-tr46.ts'

const rules = readLines('public_suffix_list.dat').filter(line => line.trim() !== '' && !line.startsWith('//'))

const toTopLevel = (rule: string) => toALabels(rule.slice(rule.lastIndexOf('.') + 1)) ?? ''
const topLevels = new Set(rules.map(toTopLevel))
/** The top-level labels, such as `helsinki`, that the newer list of the installed `tldts` no longer has. */
const listed = new Set(rules.filter(rule => parse(`a.${rule.replace(/^(?:!|\*\.)/, '')}`).isIcann).map(toTopLevel))
const removed = [...topLevels].filter(label => !listed.has(label))

/** Returns whether the list of the installed `tldts` has a rule. */
function isInstalled(rule: string): boolean {
  const base = rule.replace(/^(?:!|\*\.)/, '')
  const { publicSuffix, isIcann, isPrivate } = parse(`a.any.${base}`, { allowPrivateDomains: true })
  // Without a rule, the top-level label is the suffix.
  if (!isIcann && !isPrivate) return false
  if (rule.startsWith('!')) return publicSuffix === base.slice(base.indexOf('.') + 1)
  return publicSuffix === (rule.startsWith('*.') ? `any.${base}` : base)
}

/** The canonical form of a valid hostname, otherwise the code of its result. */
function classify(input: string): string {
  const classification = classifyHostname(input)
  return classification.valid ? classification.domain : classification.code
}

/** `null` for a name that is not allowed. */
function toALabels(name: string): string | null {
  const reading = readLabels(name)
  return typeof reading === 'string' ? reading : null
}

const isAscii = (text: string) => /^[\0-\x7f]*$/.test(text)

/** A name that is wholly ASCII: in lower case, if it follows RFC 1123 and fits; otherwise `null`. */
function asSent(name: string): string | null {
  const isHostname = name.split('.').every(label => /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i.test(label))
  return isHostname && name.length <= 253 ? name.toLowerCase() : null
}

/** Runs all cases and returns those whose results differ, so one test can cover thousands. */
function findDifferences<Case>(cases: readonly Case[], check: (vector: Case) => unknown): unknown[] {
  return cases.map(vector => ({ vector, difference: check(vector) })).filter(({ difference }) => difference)
}

test('Public Suffix List: every case gets the expected registrable domain', () => {
  const cases = readCases<[string, string | null]>('public-suffix-list.json')
  /**
   * This package treats a top-level label outside the list as internal, but the list's own algorithm treats such a
   * label as a public suffix.
   */
  const unlisted = new Set(['example.example', 'b.example.example', 'a.b.example.example'])
  expect(cases.length).toBeGreaterThan(70)
  expect(
    findDifferences(cases, ([input, registrableDomain]) => {
      const classification = classifyHostname(input)
      if (unlisted.has(input))
        return !classification.valid && classification.code === 'internal_domain' ? null : classification
      const actual = classification.valid ? classification.registrableDomain : null
      return actual === (registrableDomain && toALabels(registrableDomain)) ? null : classification
    }),
  ).toEqual([])
})

test('Public Suffix List: each rule is a public suffix; exceptions, and names below a rule, are valid', () => {
  expect(rules.length).toBeGreaterThan(10_000)
  // The rules are those of 2026-10-07. Some may no longer be in the list of the installed `tldts`.
  const current = rules.filter(isInstalled)
  expect(current.length).toBeGreaterThan(0.98 * rules.length)
  const differences = findDifferences(current, rule => {
    const name = toALabels(rule.replace(/^!/, '').replace(/^\*\./, 'any.')) ?? ''
    const topLevel = name.slice(name.lastIndexOf('.') + 1)
    if (['arpa', 'onion'].includes(topLevel))
      return [name, `registrant.${name}`].map(classify).some(code => code !== 'internal_domain')
    if (rule.startsWith('!'))
      return [name, `registrant.${name}`].map(classify).join() !== [name, `registrant.${name}`].join()
    const expected = ['public_suffix_domain', 'public_suffix_domain', `registrant.${name}`, `*.registrant.${name}`]
    return (
      [name, `*.${name}`, `registrant.${name}`, `*.registrant.${name}`].map(classify).join() !== expected.join() &&
      classify(name)
    )
  })
  expect(differences).toEqual([])
})

test('Public Suffix List: of its top-level labels that IANA has not removed since, arpa and onion are internal', () => {
  expect(topLevels.size).toBeGreaterThan(1400)
  const internal = [...topLevels].filter(label =>
    [label, `registrant.${label}`].some(name => classify(name) === 'internal_domain'),
  )
  expect(internal.toSorted()).toEqual([...removed, 'arpa', 'onion'].toSorted())
  expect(removed.length).toBeLessThan(0.02 * topLevels.size)
})

describe('Unicode 17 IdnaTestV2', () => {
  /**
   * The error V2 means hyphens in positions 3 and 4, which we allow. V3 means a hyphen at the beginning or end, which
   * we reject.
   */
  const published = readCases<[string, string, string[]]>('idna-test-v2.json')
  // Unicode 18 has assigned a character that two cases expect to be unassigned.
  const cases = published.filter(([source]) => isKnownToTr46(source) || toALabels(source) === null)

  test('every case has the expected result, except for punctuation that IDNA2008 disallows', () => {
    expect([cases.length > 6000, published.length - cases.length]).toEqual([true, 2])
    let punctuation = 0
    expect(
      findDifferences(cases, ([source, ascii, status]) => {
        const mapped = toALabels(source)
        if (isAscii(source)) return mapped === asSent(source) ? null : `got ${mapped}`
        if (status.length > 0 && !status.every(code => code === 'V2')) return mapped === null ? null : `got ${mapped}`
        if (mapped === ascii) return null
        const isRefused = mapped === null && containsPunctuation(source)
        if (isRefused) punctuation += 1
        return isRefused || (mapped === null && status.length > 0) ? null : `got ${mapped}`
      }),
    ).toEqual([])
    expect(punctuation).toBe(93)
  })

  test('a name that UTS #46 rejects is rejected, and an accepted name is mapped as UTS #46 maps it', () => {
    expect(
      findDifferences(cases, ([source, ascii, status]) => {
        const classification = classifyHostname(source)
        if (!classification.valid) return null
        // In the vectors, a trailing dot is an error (an empty label). In this package, a trailing dot means the root
        // of the DNS.
        const isTrailingDotOnly = status.every(code => code === 'A4_2') && /[.。．｡]$/.test(source)
        const isAllowed = status.every(code => code === 'V2') || isTrailingDotOnly
        const unchanged = asSent(source.replace(/\.$/, ''))
        if (isAscii(source)) return classification.domain === unchanged ? null : classification
        return isAllowed && classification.domain === ascii.replace(/\.$/, '') ? null : classification
      }),
    ).toEqual([])
  })
})

test('web platform toascii.json: A-labels match, except for names that are too long or break RFC 1123 or 5892', () => {
  const cases = readCases<[string, string | null]>('wpt-toascii.json')
  expect(cases.length).toBeGreaterThan(80)
  const isTooLong = (name: string) => name.length > 253 || name.split('.').some(label => label.length > 63)
  const hasEmptyLabelOrOuterHyphen = (name: string) => /^-|-$|\.-|-\.|\.\.|^\./.test(name)
  const strict: string[] = []
  const differences = findDifferences(cases, ([input, output]) => {
    const mapped = toALabels(input.replace(/\.$/, ''))
    if (mapped === (output?.replace(/\.$/, '') ?? null)) return null
    const reasonable =
      mapped === null &&
      output !== null &&
      (isTooLong(output) ||
        hasEmptyLabelOrOuterHyphen(input) ||
        containsPunctuation(input) ||
        (isAscii(input) && asSent(input) === null))
    if (reasonable) strict.push(input)
    return reasonable ? null : `got ${mapped}`
  })
  expect(differences).toEqual([])
  expect(strict).toHaveLength(30)
})

test('urltestdata.json: hosts that URL parsers reject are rejected, and IP addresses never become names', () => {
  const cases = readCases<[string, string | null]>('wpt-url-hosts.json')
  expect(cases.length).toBeGreaterThan(150)
  expect(
    findDifferences(cases, ([host, hostname]) => {
      const classification = classifyHostname(host)
      if (hostname === null) return classification.valid && classification
      const isAddress = /^\[|^[0-9.]+$/.test(hostname)
      if (isAddress) return classification.valid && classification.kind !== 'ip' && classification
      return classification.valid && classification.domain !== hostname.replace(/\.$/, '') && classification
    }),
  ).toEqual([])
})

test('published spellings of IP addresses are rejected, as reserved_ip or invalid_domain', () => {
  const cases = readCases<[string, string, string[], string | null, string | null]>('ip-spellings.json')
  expect(cases.length).toBeGreaterThan(250)
  const isAddress = (text: string | null) => text !== null && /^\[|^[0-9.]+$/.test(text)
  /**
   * A spelling counts as an address if a URL parser or inet_aton reads it as one. A remark in parentheses is not an
   * address.
   */
  const readings = cases.map(([spelling, meaning, , url, aton]) => ({
    spelling,
    isAddress: isAddress(url) || isAddress(aton) || /^[0-9a-f:.]+$/.test(meaning),
  }))
  const addresses = readings.filter(reading => reading.isAddress)
  expect(addresses.length).toBeGreaterThan(200)
  expect(
    findDifferences(addresses, ({ spelling }) => {
      const classification = classifyHostname(spelling)
      if (classification.valid) return classification
      return ['reserved_ip', 'invalid_domain'].includes(classification.code) ? null : classification
    }).filter(difference => !/localhost/i.test(JSON.stringify(difference).normalize('NFKC'))),
  ).toEqual([])
  const refused = addresses.filter(({ spelling }) => classify(spelling) === 'reserved_ip')
  expect(refused.length).toBe(218)
})

test('JSON Schema: every hostname has the expected result, except those listed with a reason', () => {
  const cases = [
    ...readCases<[string, string, boolean]>('json-schema-hostname.json'),
    ...readCases<[string, string, boolean]>('json-schema-idn-hostname.json'),
  ]
  expect(cases.length).toBeGreaterThan(140)
  const reasons = {
    'one trailing dot and surrounding white space do not matter here': [
      ...['example.', 'example。', 'example．', 'example｡', 'example.com\n'],
    ],
    'other full stops and letters are mapped by UTS #46 here': ['example．com', '\u212Aelvin.example.com'],
    'hyphens in positions 3 and 4 of a U-label are fine here': ['XN--aa---o47jg78q'],
    'of the characters that RFC 5892 disallows, only punctuation is rejected here': [
      ...['실〮례.테스트', 'ـߺ', '〱〲〳〴〵〮〯〻'],
    ],
    'a name that is wholly ASCII is taken as it is, whatever its A-labels decode to': [
      ...['xn--07jt112bpxg.xn--9t4b11yi5a', 'xn--chb89f', 'xn--07jceefgh4c', 'xn--5db1e', 'xn--5db3e', 'xn--7a'],
      ...['xn--S-jib3p', 'xn--al-0ea', 'xn--defabc-k64e', 'xn--l-fda', 'xn--l-gda', 'xn--la-0ea', 'xn--vek'],
      ...['xn--wva3j', 'xn---9uc', 'xn--02b508i', 'xn--0ca24w', 'xn--11b2er09f', 'xn--A-2hc5h', 'xn--A-2hc8h'],
      ...['xn--X', 'xn--hello-6bf', 'xn--hello-txk', 'xn--hello-zed', 'xn--ngb6iyr'],
    ],
    'a name that is a number is an address here, as it is to a URL parser': ['１２３'],
  }
  const listed = new Set(Object.values(reasons).flat())
  const differing = cases.filter(([, data, valid]) => {
    // A schema checks only the form, so it accepts internal names and public suffixes.
    const isWellFormed = !['invalid_domain', 'empty_domain', 'reserved_ip'].includes(classify(data))
    return isWellFormed !== valid
  })
  expect(new Set(differing.map(([, data]) => data))).toEqual(listed)
})

test('special-use names, and names below, are internal_domain, except example.com, example.net and example.org', () => {
  const cases = readCases<[string, [string]]>('iana-special-use-domains.json')
  expect(cases.length).toBe(42)
  for (const [name, [source]] of cases) {
    if (!name.includes('.')) {
      const words = source.replace('RFC', 'RFC ')
      for (const sent of [name, `a.${name}`])
        expect(classifyHostname(sent)).toMatchObject({ reason: 'reserved_name', topLevel: name, source: words })
    }
    const expected = /^example\.(?:com|net|org)$/.test(name)
      ? [name, `registrant.${name}`, `*.${name}`]
      : Array(3).fill('internal_domain')
    expect([name, `registrant.${name}`, `*.${name}`].map(classify)).toEqual(expected)
  }
})

test('top-level labels that leak from private networks are internal_domain', () => {
  const cases = readCases<[string]>('internal-top-levels.json')
  expect(cases.length).toBeGreaterThan(90)
  // The lists contain a few strings that are not hostnames, added by mistake.
  for (const [label] of cases.filter(([label]) => /^[a-z][a-z0-9.-]*$/.test(label))) {
    expect([label, `printer.${label}`, `a.b.${label}`].map(classify), label).toEqual(Array(3).fill('internal_domain'))
  }
})

test('almost all of 29,154 real hostnames stay unchanged; invalid ones have _ or leading or trailing hyphens', () => {
  const hostnames = readLines('hostnames.txt')
  expect(new Set(hostnames).size).toBe(29_154)
  const counts = new Map<string, number>()
  for (const hostname of hostnames) {
    const classification = classifyHostname(hostname)
    const outcome = classification.valid
      ? classification.domain === hostname
        ? 'unchanged'
        : 'mapped'
      : classification.code
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
  }
  const odd = hostnames.filter(hostname => classify(hostname) === 'invalid_domain')
  expect(odd.filter(hostname => !/_|(?:^|\.)-|-(?:\.|$)/.test(hostname))).toEqual([])
  expect(counts.get('unchanged')).toBeGreaterThan(29_080)
  const internal = hostnames.filter(hostname => classify(hostname) === 'internal_domain' && !hostname.endsWith('.arpa'))
  const topLevelOf = (hostname: string) => hostname.slice(hostname.lastIndexOf('.') + 1)
  expect(internal.map(topLevelOf).filter(label => topLevels.has(label) && !removed.includes(label))).toEqual([])
  expect(hostnames.filter(hostname => classify(hostname) === 'public_suffix_domain').length).toBeLessThan(20)
  expect([...counts.keys()].toSorted()).toEqual([
    'internal_domain',
    'invalid_domain',
    'mapped',
    'public_suffix_domain',
    'unchanged',
  ])
})

test('948 of 949 real international hostnames are mapped as by the URL parser; the other is a public suffix', () => {
  const hostnames = readLines('international-hostnames.txt')
  expect(hostnames.length).toBe(949)
  const differences = findDifferences(hostnames, hostname => {
    const classification = classifyHostname(hostname)
    return classification.valid && classification.domain === new URL(`http://${hostname}`).hostname
      ? null
      : classification
  })
  expect(differences).toEqual([
    // The owner of this name lets others register names below it, so the Public Suffix List contains it.
    { vector: 'günstigbestellen.de', difference: expect.objectContaining({ code: 'public_suffix_domain' }) },
  ])
})
