import { toUnicode } from 'tr46'
import { describe, expect, test } from 'vitest'
import { lines, rows } from '../../src/hostname/mistakes/table.ts'
import { classifyHostname, suffixList } from '../../src/index.ts'
import { counts, sample, seed } from '../counts.ts'
import { createRandom } from '../random.ts'
import { readCases, readLines } from '../vectors/read.ts'

/** `[input, code, suggestion, A-labels]` */
const cases = readCases<[string, string, string | null, string?]>('pasted-names.json')

const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

const messageOf = (input: string) => ({ message: '', ...classifyHostname(input) }).message

/** The suggestion as the message shows it, in the spelling of the input. */
function suggestionOf(input: string): string | null {
  const classification = classifyHostname(input)
  if (classification.valid) return classification.domain
  const shown = / Did you mean "([^"]*)"\?/u.exec(classification.message)
  return shown?.[1] ?? null
}

function titleOf([input, code, suggestion]: (typeof cases)[number]): string {
  const shown = JSON.stringify(input)
  if (code === 'valid') return `${shown} is valid, and registered as "${suggestion}"`
  return `${shown} is ${code}, ${suggestion === null ? 'without a suggestion' : `with the suggestion "${suggestion}"`}`
}

describe('what people paste', () => {
  test('pasted-names.json contains no input twice', () => {
    expect(new Set(cases.map(([input]) => input)).size).toBe(cases.length)
    expect(cases.length).toBeGreaterThan(500)
  })

  test.each(cases.map(each => [titleOf(each), ...each] as const))('%s', (_, input, code, suggestion, aLabels) => {
    const classification = classifyHostname(input)
    const mark = !classification.valid && classification.certain === false ? '? ' : ''
    const suggested = suggestionOf(input)
    const live = / If you mean this character, enter "([^"]*)"\.$/.exec(messageOf(input))?.[1]
    expect([classification.valid ? 'valid' : classification.code, suggested && mark + suggested, live]).toEqual([
      code,
      suggestion,
      aLabels,
    ])
  })

  test.each([...lines, ...rows].map((row, index) => [index + 1, row.reason, row] as const))(
    'pattern %i (reason %j) matches at least one pasted input that gets this reason',
    (_, reason, { pattern }) => {
      const found = cases.filter(([input]) => pattern.test(input.trim().replace(/^\*\.(?=\S)/, '')))
      expect(
        found.map(([input]) => classifyHostname(input)),
        String(pattern),
      ).toContainEqual(expect.objectContaining({ reason }))
    },
  )
})

describe('messages', () => {
  test('match the snapshot messages.txt', async () => {
    // For each wording: the first message with its details, and the number of cases. Messages have the same wording if
    // they differ only in quoted text and in code points such as U+00AD.
    const wordings = new Map<string, string[]>()
    for (const [input] of cases) {
      const answer = classifyHostname(input)
      if (answer.valid) continue
      const {
        valid: _,
        code: _code,
        reason,
        message,
        suggestion: _sent,
        certain: _certain,
        aLabels: _live,
        ...details
      } = answer
      const line = `${reason}: ${message}`
      const wording = line.replaceAll(/"[^"]*"|U\+[0-9A-F]+/g, '')
      const ascii = JSON.stringify(details)
        .replace(suffixList.version, 'x.y.z')
        .replace(/[^ -~]/g, toEscape)
      const shown = ascii === '{}' ? '' : `\n    ${ascii}`
      wordings.set(wording, [...(wordings.get(wording) ?? []), `${line}${shown}`])
    }
    const lines = [...wordings.values()].map(alike => `${alike.length} × ${alike[0]}\n`)
    await expect(lines.join('')).toMatchFileSnapshot('messages.txt')
  })

  test.each([
    ['Email: joe@gmail.com', '"Email: joe@gmail.com" contains an "@", as in an e-mail address'],
    ['3com.اختبار.com', 'has a label that begins with a digit'],
    ['٨.٨.٨.٨', 'Enter an IP address in the digits 0 to 9.'],
    ['ping the server', 'looks like a command. Enter only the hostname in it.'],
    ['8.8.8.0/24,8.8.4.0/24', 'contains a prefix, which stands for a range of IP addresses.'],
    ['_https://example.com/a_', 'contains a path. Did you mean "example.com"?'],
    ['e.g. example.com', 'contains a space next to a dot. Enter one hostname, without spaces.'],
    ['0x8.0x8.0x8.0x8', 'which programs read as 8.8.8.8.'],
    ['010.020.030.040', 'which programs read as 8.16.24.32 or as 10.20.30.40.'],
    ['300.300.300.300', 'has the number 300; no number in an IPv4 address is above 255.'],
    ['👨\u200d👩\u200d👧.com', 'If you mean this character, enter "xn--1uga80807abag.com".'],
    ['joe@example.com, anna@example.com', 'contains an "@", as in an e-mail address'],
  ])('say about %j what is true of it: %s', (input, part) => {
    expect(messageOf(input)).toContain(part)
  })

  test('show the e-mail address of a JSON object', () => {
    expect(messageOf('{"email":"joe@shop.com"}')).toContain('"{"email":"joe@shop.com"}"')
    expect(messageOf('{"password":"joe@shop.com"}')).not.toContain('joe')
  })

  test('hide what follows the name of a secret', () => {
    expect(messageOf('Password: hunter2@example.com')).toContain('"Password:***@example.com"')
  })

  test('contain an A-label only if the input contains one', () => {
    for (const [input] of cases) {
      const withoutSuggestion = messageOf(input).replace(/(?: Did you mean| If you mean) .*/gsu, '')
      if (!/xn--/i.test(input)) expect(withoutSuggestion.replace('begins with "xn--"', '')).not.toContain('xn--')
    }
  })

  test.each([
    'https://user:secret@example.com',
    'https://user:secret@my_site.com/',
    'https://user:se/secret@example.com',
    'https://user:p@secret@example.com',
    'https://user:sec:secret@example.com',
    'https://:secret@example.com',
    'user:secret@example.com',
    'user:p//secret@example.com',
    'see https://user:secret@example.com',
    '"https://user:secret@example.com",',
    'jdbc:mysql://user:secret@db.example.com:3306/app',
    'https:user:secret@example.com',
    'https://user:secret@example.com, https://example.org',
  ])('do not repeat the password in %j', input => {
    expect(messageOf(input)).toContain(':***@')
    expect(messageOf(input)).not.toContain('secret')
  })
})

/** Normalizes compatibility characters, separators in place of dots, and invisible characters in an input. */
function spell(text: string): string {
  return (
    text
      .replace(/^[①❶]/, '')
      .normalize('NFKC')
      .toLowerCase()
      .replace(/[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g, '')
      .replace(/\[\.\]|\(\.\)|\[dot\]|\(dot\)| dot |\\\.|。/g, '.')
      .replace(/(?<![\p{L}\p{N}])__?([^_]+)__?(?![\p{L}\p{N}])/gu, '$1')
      // What follows the number of a list is a name: `1. example.com`, but `163. com` is a name with a space in it.
      .replace(/^(?:[^\p{L}\p{N}]*[0-9]+[.)]\s+(?=\S+\.)|[-+#•·]+\s*)/u, '')
      .replace(/\\+052(?=\.)/g, '*')
      .replace(/[‐‑‒–—−]/g, '-')
      .replace(/\s*\.\s*/g, '.')
      .replace(/\.{2,}/g, '.')
      .replace(/\b0+(?=[0-9])/g, '')
      .normalize('NFC')
  )
}

/** Top-level labels that can only be typos. */
const slips: Readonly<Record<string, string>> = {
  com: 'con cmo ocm vom xom cpm comm coom ccom c0m cim',
  net: 'nte nett neet',
  org: 'ogr orgg oorg',
}

function withSlips(name: string): string[] {
  const dot = name.lastIndexOf('.') + 1
  return (slips[name.slice(dot)] ?? '').split(' ').map(slip => name.slice(0, dot) + slip)
}

/** `4.3.2.1.in-addr.arpa` spells 1.2.3.4. */
function isReversedIn(name: string, address: string): boolean {
  const [parts = ''] = name.split(/\.(?:in-addr|ip6)\./i)
  const reversed = parts.split('.').reverse()
  const spelled = address.includes(':') ? `[${reversed.join('').replace(/.{4}(?!$)/g, '$&:')}]` : reversed.join('.')
  return new URL(`http://${spelled}`).hostname.replace(/[[\]]/g, '') === address
}

/**
 * Whether an input spells the suggestion as a whole: not as a part of a longer name, not without some of its labels,
 * not in several pieces, and a wildcard only where there is a star.
 */
function isSpelledIn(text: string, suggestion: string): boolean {
  const base = suggestion.replace(/^\*\./, '')
  if (/\.arpa\.?$/i.test(text)) return isReversedIn(text, base)
  if (base.includes(':')) return /[0-9a-f]*:[0-9a-f:.]+/i.test(text)
  const spelled = spell(text)
  if (suggestion.startsWith('*.') && !/[*\u204e\u2217\u2731]\.?/.test(spelled)) return false
  return [base, toUnicode(base).domain]
    .map(spell)
    .flatMap(name => [name, ...withSlips(name)])
    .some(name => {
      for (let at = spelled.indexOf(name); at !== -1; at = spelled.indexOf(name, at + 1)) {
        const isCut =
          /[\p{L}\p{N}_-]\.?$/u.test(spelled.slice(0, at)) || /^[\p{L}\p{N}_-]/u.test(spelled.slice(at + name.length))
        if (!isCut) return true
      }
      return false
    })
}

describe('a suggestion', () => {
  const real = [...readLines('hostnames.txt'), ...readLines('international-hostnames.txt')]
  const before = [
    ...['https://', 'http:/', '"', '“', '<', '(', '- ', '• ', '*', '*.', '.', 'me@', 'DNS:', '\u200e', 'www,'],
    ...['_dmarc.', '[', ''],
  ]
  const after = [
    ...['/', '/@evil.org', '?next=me@evil.org', ':443', '"', '”', '",', '>', ')', ' # prod', '..', '.', ';'],
    ...['\u200b', '.con', ']', '_', ''],
    ...['...', '…', '/pa…'],
  ]
  const inside = ['*', '_', ' ', ' .', ',', '\u200d', '․', '‐', '–', '@', '..', '[.]', '\\.', 'ß', 'א', '１', '%', '']
  /** Between these, two names are two, and none of them spells a part of a name. */
  const between = [' ', '–', '—', '‐', '...', '…', ', ', ' – ', '. ', '_', '%', '..', ' and ', '|', '/', ' -> ', '\n']

  const names = [...real, '8.8.8.8', '[2606:4700::1111]', '010.8.8.8', 'example.con']

  test('is a valid name that the input spells in full, with all its labels, and no wider', () => {
    const random = createRandom(seed)
    const some = (texts: readonly string[]) =>
      Array.from({ length: random.integer(0, 3) }, () => random.pick(texts)).join('')
    let suggestions = 0
    for (let run = 0; run < counts.suggestions; run += 1) {
      const name = random.pick(names)
      const at = random.integer(0, 30)
      const input = some(before) + name.slice(0, at) + random.pick(inside) + name.slice(at) + some(after)
      const suggestion = suggestionOf(input)
      if (suggestion === null || classifyHostname(input).valid) continue
      suggestions += 1
      if (!classifyHostname(suggestion).valid || !isSpelledIn(input, suggestion))
        expect.fail(`${input} → ${suggestion}`)
    }
    expect(suggestions).toBeGreaterThan(counts.suggestions / 10)
  })

  test('for a name that is cut short, with a part left out or joined to another one, is no third name', () => {
    const random = createRandom(seed)
    const ownerOf = (name: string) => {
      const hostname = classifyHostname(name)
      return hostname.valid ? hostname.registrableDomain : undefined
    }
    // The list also has names below suffixes that do not exist: what follows such a name may continue it.
    const valid = real.filter(name => classifyHostname(name).valid)
    let suggestions = 0
    for (let run = 0; run < counts.suggestions; run += 1) {
      const [first, second] = [random.pick(valid), random.pick(valid)]
      const [at, length] = [random.integer(1, first.length), random.integer(0, 12)]
      const input = random.pick([
        `${random.pick(before)}${first}${random.pick(between)}${second}${random.pick(after)}`,
        `${first.slice(0, at)}${random.pick(['...', '…', '..', '[...]', '....'])}${first.slice(at + length)}`,
        `https://${first.slice(0, at)}${random.pick(['...', '…'])}`,
      ])
      const suggestion = suggestionOf(input)
      if (suggestion === null || classifyHostname(input).valid) continue
      suggestions += 1
      const owners = [first, second].map(ownerOf)
      if (!owners.includes(ownerOf(suggestion))) expect.fail(`${input} → ${suggestion}`)
    }
    expect(suggestions).toBeGreaterThan(counts.suggestions / 100)
  })

  test.each([
    ...['joe@gmail.com', 'mailto:anna@yahoo.co.jp', '"joe@mail.ru",', 'Joe <joe@shop.github.io>', 'Email: joe@web.de'],
  ])('is not made from an address at a service that many share: %j', input => {
    expect(classifyHostname(input)).not.toHaveProperty('suggestion')
  })

  test('for a pasted text is spelled in it as well', () => {
    const suggested = cases.flatMap(([input]) => {
      const suggestion = suggestionOf(input)
      return suggestion === null || classifyHostname(input).valid ? [] : [[input, suggestion] as const]
    })
    expect(suggested.filter(([input, suggestion]) => !isSpelledIn(input, suggestion))).toEqual([])
    expect(suggested.length).toBeGreaterThan(200)
  })
})

test.each([
  ...[
    'ws://$/chat',
    'ftps://$/',
    'sftp://$/home',
    'git://$/site.git',
    'ldap://$',
    'ldaps://$:636/dc=example',
    'tcp://$:1883',
  ],
  ...['smtp://$:587', 'imap://$:143', 'mysql://root@$/app', 'mariadb://$:3306', 'postgresql://app@$:5432/app?ssl=true'],
  ...[
    'mongodb://app:secret@$:27017',
    'rediss://:secret@$:6380/0',
    'amqp://$',
    'amqps://$/vhost',
    'mqtt://$',
    'mqtts://$:8883',
  ],
  'feed://$/rss',
])('a URL of a service names its host: %s', url => {
  const read = classifyHostname(url.replace('$', 'db.example.com'))
  expect(read).toMatchObject({ suggestion: 'db.example.com', certain: true })
})

test('a word of English after a dot and a space does not end a name', () => {
  const words = 'am as at be by do id in is it la me my no so st to us'.split(' ')
  const suggested = words.filter(word => 'suggestion' in classifyHostname(`example. ${word}`))
  expect(suggested).toEqual([])
})

describe('several hostnames', () => {
  test.each([
    ['example.com, example.org', ['example.com', 'example.org']],
    ['a.example.com/,b.example.org/', ['a.example.com', 'b.example.org']],
    ['https://example.com/a https://example.org/b,http://8.8.8.8', ['example.com', 'example.org', '8.8.8.8']],
    ['Bücher.de; bücher.de; *.EXAMPLE.com', ['xn--bcher-kva.de', '*.example.com']],
    ['example.com (old: example.org)', ['example.com', 'example.org']],
    ['| example.com | example.org |', ['example.com', 'example.org']],
    ['["example.com","example.org"]', ['example.com', 'example.org']],
    ['8.8.8.8 and 8.8.4.4', ['8.8.8.8', '8.8.4.4']],
    ['example.com or example.org', ['example.com', 'example.org']],
  ])('are all listed: %j', (input, hosts) => {
    const classification = classifyHostname(input)
    expect(classification).toMatchObject({ reason: 'several_hostnames', hosts })
    expect(classification).not.toHaveProperty('suggestion')
  })

  test('are listed if they fill an input, 50 at most: the rest of a longer text is not read', () => {
    const listOf = (count: number) => Array.from({ length: count }, (_, index) => `${index}a.io`)
    expect(classifyHostname(listOf(50).join(', '))).toMatchObject({ hosts: listOf(50) })
    for (const text of [listOf(60).join(', '), `${'( '.repeat(120)}example.com`, `${'a '.repeat(60)}example.com`]) {
      expect(classifyHostname(text)).not.toHaveProperty('hosts')
      expect(classifyHostname(text)).not.toHaveProperty('suggestion')
    }
  })

  test('are not looked for behind three e-mail addresses with hosts of their own', () => {
    const mails = ['joe@example.com', 'joe@example.org', 'joe@example.net']
    const reasons = [2, 3].map(count => classifyHostname([...mails.slice(0, count), '8.8.8.0/24'].join(', ')))
    expect(reasons).toMatchObject([{ reason: 'address_range' }, { reason: 'at_sign' }])
  })

  test('in a path behind more than 20 separators are not looked for, so the suggestion is a guess', () => {
    const certainties = [20, 21].map(count => classifyHostname(`https://example.com/${'a,'.repeat(count)}`))
    expect(certainties).toMatchObject([{ certain: true }, { certain: false }])
  })

  test.each([
    ['one cannot be registered', 'example.com, my_site.example.org'],
    ['one is not public', 'example.com, server.local'],
    ['one is a guess', 'example.com, example.con'],
    ['words may belong to one', 'exam ple.com, example.org'],
    ['they are networks', '8.8.8.0/24, example.com'],
    ['they are the hosts of e-mail addresses', 'joe@example.com, anna@example.org'],
    ['they are the text and the target of a link', '[example.com](https://example.org)'],
    ['they are in a line of a zone file', 'example.com. IN NS ns1.example.org.'],
    ['they are the same', 'example.com, example.com.'],
  ])('are not listed if %s: %j', (_, input) => {
    expect(classifyHostname(input)).not.toHaveProperty('hosts')
  })
})

/** What people copy around a name, in place of `$`. */
const frames = [
  ...['$', '"$"', "'$'", '“$”', '<$>', '($)', '[$]', '`$`', '**$**', '_$_', '*$*', '> $', '- $', '1. $', '• $', '# $'],
  ...['https://$/', 'http://$/index.html?x=1#y', '$:443', '$/', '$.', '$,', '$;', '=$', 'host: $', 'DNS:$', '$ # prod'],
  ...['$ (main)', '$ - main', '<https://$|site>', '[site](https://$/)', '<a href="https://$/">site</a>'],
  ...['=HYPERLINK("https://$/","site")', 'joe@$', 'Joe <joe@$>', 'curl https://$/', '| $ | prod |', 'see $', '\u200b$'],
  ...['$ site'],
]
/** What people copy between two names. */
const gaps = [
  ...[
    ', ',
    ',',
    ';',
    ' ',
    '\n',
    '\t',
    ' | ',
    '/',
    '/,',
    ' and ',
    ' - ',
    ' (old: ',
    ' # ',
    '@',
    ' -> ',
    '、',
    '، ',
    '،',
  ],
  ...['\\@', ':443@', '/x,', '–', ' <', '](https://', '" "', '\\n', '/https://', '/?url=https%3A%2F%2F'],
]

test('a name is certain only if it is the only one: in 3,840 ways to paste one name or two', () => {
  const random = createRandom(seed)
  const canonical = readLines('hostnames.txt').filter(name => {
    const read = classifyHostname(name)
    return read.valid && read.kind === 'name' && read.domain === name
  })
  const into = (frame: string, name: string) => frame.replace('$', () => name)
  const nested = frames.flatMap(outer => frames.map(inner => (name: string) => into(outer, into(inner, name))))
  const joined = frames.flatMap(frame =>
    gaps.flatMap(gap => [
      // The path of a URL names no other host.
      (first: string, second: string) =>
        into(frame, first + (/^(?:\/|\\n)$/.test(gap) && frame.includes('://$') ? ', ' : gap) + second),
      (first: string, second: string) => first + gap + into(frame, second),
    ]),
  )
  expect(nested.length + joined.length).toBe(3_840)
  const certain = [...sample(nested, counts.pastings), ...sample(joined, counts.pastings)].flatMap(paste => {
    const [first, second] = [random.pick(canonical), random.pick(canonical)]
    const input = paste(first, second)
    const read = classifyHostname(input)
    if (read.valid || first === second) return []
    const named = paste.length === 1 ? [first] : [first, second]
    if (read.hosts !== undefined && String(read.hosts) !== String(named)) expect.fail(`${input} → ${read.hosts}`)
    if (!read.certain) return []
    if (String(read.suggestion) !== String(named)) expect.fail(`${input} → ${read.suggestion}`)
    return [input]
  })
  expect(certain.length).toBeGreaterThan(Math.min(nested.length, counts.pastings) / 4)
})

test('tables and configurations, pasted row by row, get no suggestion that the row does not spell', () => {
  const files = readLines('pasted-files.txt').join('\n').split(/^--- /m).slice(1)
  expect(files.length).toBeGreaterThan(30)
  const rows = files.flatMap(file => file.trim().split('\n').slice(1))
  const suggested = rows.flatMap(row => {
    const suggestion = suggestionOf(row)
    return classifyHostname(row).valid || suggestion === null ? [] : [[row, suggestion] as const]
  })
  expect(suggested.filter(([row, suggestion]) => !isSpelledIn(row, suggestion))).toEqual([])
  expect(suggested.length).toBeGreaterThan(10)
})

test.each([
  ["':' and '@'", `${':'.repeat(3_400_000)}@`],
  ["'https://' and '@'", `https://${':'.repeat(3_400_000)}@`],
  ["'@'", '@'.repeat(3_400_000)],
  ['white space', `${' '.repeat(3_400_000)}@`],
])('millions of characters, of %s, are rejected without an error', (_, input) => {
  expect(classifyHostname(input)).toMatchObject({ valid: false, reason: 'name_too_long' })
})

test.each([
  ['my-.com.', 'begins or ends with a hyphen'],
  ['bücher-.de.', 'begins or ends with a hyphen'],
  [`${'x'.repeat(64)}.com.`, 'begins with a label of 64 characters'],
])('the message about %j does not blame the trailing dot', (input, part) => {
  expect(classifyHostname(input)).toMatchObject({
    message: expect.stringMatching(new RegExp(`^(?!.*empty label).*${part}`)),
  })
})
