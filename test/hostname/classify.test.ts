import { toUnicode } from 'tr46'
import { describe, expect, test } from 'vitest'
import { classifyHostname } from '../../src/index.ts'

const label63 = 'a'.repeat(63)
/** 253 octets: three labels of 63, one of 57, and `.com`. */
const name253 = `${label63}.${label63}.${label63}.${'a'.repeat(57)}.com`

const toTitle = (input: string) => (input.length > 80 ? `${input.length} characters` : JSON.stringify(input))

describe('accepted, in canonical form', () => {
  test.each([
    // [input, kind, domain, registrable domain]
    ['example.com', 'name', 'example.com', 'example.com'],
    ['www.example.com', 'name', 'www.example.com', 'example.com'],
    ['a.b.c.example.co.uk', 'name', 'a.b.c.example.co.uk', 'example.co.uk'],
    ['WWW.Example.COM', 'name', 'www.example.com', 'example.com'],
    ['  example.com\t\n', 'name', 'example.com', 'example.com'],
    ['example.com.', 'name', 'example.com', 'example.com'],
    ['example.com。', 'name', 'example.com', 'example.com'],
    ['example.net', 'name', 'example.net', 'example.net'],
    ['example.org', 'name', 'example.org', 'example.org'],
    ['xn--bcher-kva.de', 'name', 'xn--bcher-kva.de', 'xn--bcher-kva.de'],
    ['XN--BCHER-KVA.de', 'name', 'xn--bcher-kva.de', 'xn--bcher-kva.de'],
    ['Bücher.de', 'name', 'xn--bcher-kva.de', 'xn--bcher-kva.de'],
    ['faß.de', 'name', 'xn--fa-hia.de', 'xn--fa-hia.de'],
    ['пример.рф', 'name', 'xn--e1afmkfd.xn--p1ai', 'xn--e1afmkfd.xn--p1ai'],
    ['日本語。jp', 'name', 'xn--wgv71a119e.jp', 'xn--wgv71a119e.jp'],
    ['ｅｘａｍｐｌｅ.com', 'name', 'example.com', 'example.com'],
    ['exam\u00adple.com', 'name', 'example.com', 'example.com'],
    ['r3---sn-abc.example.com', 'name', 'r3---sn-abc.example.com', 'example.com'],
    ['1.2.3.4.example.com', 'name', '1.2.3.4.example.com', 'example.com'],
    ['163.com', 'name', '163.com', '163.com'],
    ['0x7f.com', 'name', '0x7f.com', '0x7f.com'],
    [`${label63}.com`, 'name', `${label63}.com`, `${label63}.com`],
    [name253, 'name', name253, `${'a'.repeat(57)}.com`],
    ['someone.github.io', 'name', 'someone.github.io', 'someone.github.io'],
    ['a.someone.github.io', 'name', 'a.someone.github.io', 'someone.github.io'],
    ['www.ck', 'name', 'www.ck', 'www.ck'],
    ['a.www.ck', 'name', 'a.www.ck', 'www.ck'],
    ['a.b.ck', 'name', 'a.b.ck', 'a.b.ck'],
    ['city.kawasaki.jp', 'name', 'city.kawasaki.jp', 'city.kawasaki.jp'],
    ['*.example.com', 'wildcard', '*.example.com', 'example.com'],
    ['*.A.Example.com.', 'wildcard', '*.a.example.com', 'example.com'],
    ['*.bücher.de', 'wildcard', '*.xn--bcher-kva.de', 'xn--bcher-kva.de'],
    ['*.someone.github.io', 'wildcard', '*.someone.github.io', 'someone.github.io'],
    [`*.${name253.slice(2)}`, 'wildcard', `*.${name253.slice(2)}`, `${'a'.repeat(57)}.com`],
    ['8.8.8.8', 'ip', '8.8.8.8', '8.8.8.8'],
    ['8.8.8.8.', 'ip', '8.8.8.8', '8.8.8.8'],
    ['2001:4860:4860::8888', 'ip', '2001:4860:4860::8888', '2001:4860:4860::8888'],
    ['2001:4860:4860::ABCD', 'ip', '2001:4860:4860::abcd', '2001:4860:4860::abcd'],
    ['[2001:4860:4860::8888]', 'ip', '2001:4860:4860::8888', '2001:4860:4860::8888'],
  ] as const)('%s', (input, kind, domain, registrableDomain) => {
    expect(classifyHostname(input)).toEqual({ valid: true, kind, domain, registrableDomain })
  })
})

describe('refused, with a code and a message that says why', () => {
  const cases = [
    ['', 'empty_domain', 'is empty'],
    [' \t\r\n\u00a0\u3000\ufeff', 'empty_domain', 'is empty'],

    ['.', 'invalid_domain', 'empty label'],
    ['..', 'invalid_domain', 'empty label'],
    ['.example.com', 'invalid_domain', 'send "example.com"'],
    ['example..com', 'invalid_domain', 'send "example.com"'],
    ['example.com..', 'invalid_domain', 'send "example.com"'],
    [`${label63}a.com`, 'invalid_domain', '64 characters, more than 63'],
    [`a${name253}`, 'invalid_domain', '254 characters, more than the 253'],
    [`${'ü'.repeat(63)}.de`, 'invalid_domain', 'too long in its ASCII form'],
    ['x'.repeat(10_000_000), 'invalid_domain', 'too long'],
    ['-example.com', 'invalid_domain', 'begins or ends with a hyphen'],
    ['example-.com', 'invalid_domain', 'begins or ends with a hyphen'],
    ['example.-com', 'invalid_domain', 'begins or ends with a hyphen'],
    ['-ü.de', 'invalid_domain', 'begins or ends with a hyphen'],
    ['xn----eha.de', 'invalid_domain', 'no A-label'],
    ['xn--a.com', 'invalid_domain', 'no A-label'],
    ['xn--zzzzzz999.com', 'invalid_domain', 'no A-label'],
    // U+D83D and U+DE00, encoded one by one. Together they are U+1F600, whose label is xn--e28h.
    ['xn--8c9bk9h.com', 'invalid_domain', 'no A-label'],
    ['xn--a-8f4gp1m.com', 'invalid_domain', 'no A-label'],
    ['xn--.com', 'invalid_domain', 'begins or ends with a hyphen'],
    [
      'under_score.example.com',
      'invalid_domain',
      'holds an underscore, which a hostname cannot (RFC 1123, section 2.1).',
    ],
    ['_dmarc.example.com', 'invalid_domain', 'send "example.com"'],
    ['exam ple.com', 'invalid_domain', 'entry of its own'],
    ['example.com,example.org', 'invalid_domain', 'entry of its own'],
    ['example.com,', 'invalid_domain', 'send "example.com"'],
    [
      'https://www.example.com:443/path?query#hash',
      'invalid_domain',
      'is a URL, not a hostname; send "www.example.com"',
    ],
    ['http://user:pass@bücher.de/', 'invalid_domain', 'send "bücher.de"'],
    ['http://8.8.8.8/', 'invalid_domain', 'send "8.8.8.8"'],
    ['http://localhost/', 'invalid_domain', 'is a URL, not a hostname.'],
    ['example.com/path', 'invalid_domain', 'holds a path; send "example.com"'],
    ['example.com:8080', 'invalid_domain', 'holds a port; send "example.com"'],
    ['someone@example.com', 'invalid_domain', 'send "example.com"'],
    ['%65xample.com', 'invalid_domain', 'percent-encoding is not decoded'],
    ['"example.com"', 'invalid_domain', 'send "example.com"'],
    ['exam!ple.com', 'invalid_domain', 'holds the character "!"'],
    ['exam\0ple.com', 'invalid_domain', 'holds the character "\\u{0}"'],
    ['\ud800.com', 'invalid_domain', 'UTS #46'],
    ['a\u200db.com', 'invalid_domain', 'UTS #46'],
    ['\u00ad', 'invalid_domain', 'UTS #46'],
    ['*', 'invalid_domain', 'as the whole first label'],
    ['*.', 'invalid_domain', 'as the whole first label'],
    ['*example.com', 'invalid_domain', 'send "*.example.com"'],
    ['www.*.example.com', 'invalid_domain', 'send "*.example.com"'],
    ['*.*.example.com', 'invalid_domain', 'send "*.example.com"'],
    ['*.8.8.8.8', 'invalid_domain', 'wildcard over an IP address'],
    ['*.2001:4860:4860::8888', 'invalid_domain', 'wildcard over an IP address'],
    ['*.127.0.0.1', 'invalid_domain', 'wildcard over an IP address'],

    ['example.123', 'invalid_domain', 'ends in a number'],
    ['1.2.3.4.5', 'invalid_domain', 'ends in a number'],
    ['256.256.256.256', 'invalid_domain', 'ends in a number'],
    ['1.2.3.08', 'invalid_domain', 'ends in a number'],
    ['4294967296', 'invalid_domain', 'ends in a number'],
    ['example.0x', 'invalid_domain', 'ends in a number'],
    ['010.8.8.8', 'invalid_domain', 'is an unusual spelling of an IP address.'],
    ['8.8.2056', 'invalid_domain', 'is an unusual spelling of an IP address.'],
    ['0x08080808', 'invalid_domain', 'is an unusual spelling of an IP address.'],
    ['008.008.008.008', 'invalid_domain', 'ends in a number'],
    ['001.002.003.004', 'invalid_domain', 'send "1.2.3.4"'],
    ['８.８.８.８', 'invalid_domain', 'send "8.8.8.8"'],
    ['2001:4860:4860:0:0:0:0:8888', 'invalid_domain', 'send "2001:4860:4860::8888"'],
    ['2001:4860:4860::0:8888', 'invalid_domain', 'send "2001:4860:4860::8888"'],
    ['2001:4860:4860::8888%eth0', 'invalid_domain', 'send "2001:4860:4860::8888"'],
    ['2001:4860::8.8.8.8', 'invalid_domain', 'send "2001:4860::808:808"'],
    ['[8.8.8.8]', 'invalid_domain', 'send "8.8.8.8"'],
    ['2001:4860:4860::8888.', 'invalid_domain', 'send "2001:4860:4860::8888"'],
    ['[2001:4860:4860::8888].', 'invalid_domain', 'send "2001:4860:4860::8888"'],
    ['::1.', 'invalid_domain', 'is an IPv6 address with a dot after it'],
    ['8.8.8.1-10', 'invalid_domain', 'is a range of IP addresses'],
    ['8.8.8.1-8.8.8.10', 'invalid_domain', 'is a range of IP addresses'],
    ['8.8.8-9.0-255', 'invalid_domain', 'is a range of IP addresses'],
    ['*.8.8.8.1-10', 'invalid_domain', 'is a range of IP addresses'],
    ['8.8.8.0/24', 'invalid_domain', 'is a prefix'],
    ['2001:4860::/32', 'invalid_domain', 'is a prefix'],
    [`*.${name253}`, 'invalid_domain', 'has 255 characters with its "*."'],
    [`*.${name253.slice(1)}`, 'invalid_domain', 'has 254 characters with its "*."'],
    ['1::2::3', 'invalid_domain', 'no IPv6 address'],
    ['12345::', 'invalid_domain', 'no IPv6 address'],
    ['1:2:3:4:5:6:7:8:9', 'invalid_domain', 'no IPv6 address'],

    ['127.0.0.1', 'reserved_ip', '127.0.0.0/8, Loopback'],
    ['10.1.2.3', 'reserved_ip', '10.0.0.0/8, Private-Use'],
    ['169.254.169.254', 'reserved_ip', 'Link Local'],
    ['127.1', 'reserved_ip', 'is the address 127.0.0.1'],
    ['0x7f.0.0.1', 'reserved_ip', 'is the address 127.0.0.1'],
    ['0177.0.0.1', 'reserved_ip', 'is the address 127.0.0.1'],
    ['2130706433', 'reserved_ip', 'is the address 127.0.0.1'],
    ['0', 'reserved_ip', '0.0.0.0'],
    ['0x', 'reserved_ip', '0.0.0.0'],
    ['１２７.０.０.１', 'reserved_ip', 'is the address 127.0.0.1'],
    ['①②⑦.⓪.⓪.①', 'reserved_ip', 'is the address 127.0.0.1'],
    ['127。0。0。1', 'reserved_ip', 'is the address 127.0.0.1'],
    ['224.0.0.1', 'reserved_ip', 'Multicast'],
    ['255.255.255.255', 'reserved_ip', 'Limited Broadcast'],
    ['::', 'reserved_ip', 'Unspecified'],
    ['::1', 'reserved_ip', 'Loopback'],
    ['[::1]', 'reserved_ip', 'Loopback'],
    ['0:0:0:0:0:0:0:1', 'reserved_ip', 'Loopback'],
    ['fe80::1%eth0', 'reserved_ip', 'Link-Local'],
    ['[fe80::1%25eth0]', 'reserved_ip', 'Link-Local'],
    ['::ffff:127.0.0.1', 'reserved_ip', 'around 127.0.0.1, which is in 127.0.0.0/8'],
    ['::127.0.0.1', 'reserved_ip', 'around 127.0.0.1, which is in 127.0.0.0/8'],
    ['::ffff:0:127.0.0.1', 'reserved_ip', 'around 127.0.0.1, which is in 127.0.0.0/8'],
    ['64:ff9b::7f00:1', 'reserved_ip', 'around 127.0.0.1, which is in 127.0.0.0/8'],
    ['2002:7f00:1::', 'reserved_ip', 'around 127.0.0.1, which is in 127.0.0.0/8'],
    ['2001:0:0:0:0:0:80ff:fffe', 'reserved_ip', 'around 127.0.0.1, which is in 127.0.0.0/8'],
    ['::ffff:8.8.8.8', 'reserved_ip', 'IPv4-mapped'],
    ['2001:db8::1', 'reserved_ip', 'Documentation'],
    ['4000::1', 'reserved_ip', 'outside 2000::/3'],
    ['100:0:0:1::1', 'reserved_ip', 'Dummy IPv6 Prefix'],

    ['printer', 'internal_domain', 'single label'],
    ['localhost', 'internal_domain', 'RFC 6761'],
    ['LOCALHOST.', 'internal_domain', 'RFC 6761'],
    ['a.localhost', 'internal_domain', 'RFC 6761'],
    ['*.localhost', 'internal_domain', 'RFC 6761'],
    ['printer.local', 'internal_domain', 'RFC 6762'],
    ['db.internal', 'internal_domain', 'ICANN'],
    ['a.test', 'internal_domain', 'RFC 6761'],
    ['a.example', 'internal_domain', 'RFC 6761'],
    ['a.invalid', 'internal_domain', 'RFC 6761'],
    ['a.onion', 'internal_domain', 'RFC 7686'],
    ['onion', 'internal_domain', 'RFC 7686'],
    ['a.alt', 'internal_domain', 'RFC 9476'],
    ['home.arpa', 'internal_domain', 'RFC 3172'],
    ['1.0.0.127.in-addr.arpa', 'internal_domain', 'RFC 3172'],
    ['server.lan', 'internal_domain', 'no top-level domain ".lan"'],
    ['server.corp', 'internal_domain', 'no top-level domain ".corp"'],
    ['example.con', 'internal_domain', 'send "example.com"'],
    ['*.example.ocm', 'internal_domain', 'send "*.example.com"'],

    ['com', 'public_suffix_domain', 'is a public suffix'],
    ['COM.', 'public_suffix_domain', 'is a public suffix'],
    ['co.uk', 'public_suffix_domain', 'is a public suffix'],
    ['*.co.uk', 'public_suffix_domain', 'is a public suffix'],
    ['github.io', 'public_suffix_domain', 'is a public suffix'],
    ['*.github.io', 'public_suffix_domain', 'is a public suffix'],
    ['рф', 'public_suffix_domain', 'is a public suffix'],
    ['ck', 'public_suffix_domain', 'is a public suffix'],
    ['a.ck', 'public_suffix_domain', 'is a public suffix'],
    ['*.ck', 'public_suffix_domain', 'is a public suffix'],
    ['*.kawasaki.jp', 'public_suffix_domain', 'is a public suffix'],
  ] as const

  test.each(cases.map(([input, code, reason]) => [toTitle(input), input, code, reason]))(
    '%s',
    (_, input, code, reason) => {
      const classification = classifyHostname(input)
      expect(classification).toEqual({ valid: false, code, message: expect.stringContaining(reason) })
    },
  )
})

test('a value that is no string is refused, not thrown at', () => {
  for (const value of [null, undefined, 42, {}, [], Symbol('x'), () => 'example.com']) {
    expect(classifyHostname(value as never)).toMatchObject({ valid: false, code: 'invalid_domain' })
  }
})

test('a text over 512 characters is refused for its length, white space included, unless it is all white space', () => {
  const spaces = ' '.repeat(10_000_000)
  expect(classifyHostname(spaces)).toMatchObject({ code: 'empty_domain' })
  for (const text of [`${spaces}example.com`, `example.com${spaces}`, `example.com${' '.repeat(502)}`]) {
    expect(classifyHostname(text)).toMatchObject({
      code: 'invalid_domain',
      message: expect.stringContaining('too long'),
    })
  }
  expect(classifyHostname(`example.com${' '.repeat(501)}`)).toMatchObject({ domain: 'example.com' })
})

test('characters that mapping drops do not make a name too long', () => {
  // The blocks that hold characters that Unicode calls ignorable.
  const blocks = [0x00, 0x03, 0x11, 0x17, 0x18, 0x20, 0xfe, 0xff, 0xe00, 0xe01]
  const dropped = blocks
    .flatMap(block => Array.from({ length: 0x100 }, (_, index) => String.fromCodePoint(block * 0x100 + index)))
    .filter(character => toUnicode(`a${character}a`).domain === 'aa')
  expect(dropped.length).toBeGreaterThan(250)
  for (const character of dropped) {
    expect(classifyHostname(`é${character.repeat(100)}.de`)).toMatchObject({ valid: true, domain: 'xn--9ca.de' })
  }
  expect(classifyHostname(`e\u0301${'\u00ad'.repeat(100)}.de`)).toMatchObject({ valid: true, domain: 'xn--9ca.de' })
})

test('a message quotes a long or unprintable input cut and made visible', () => {
  const { message } = classifyHostname(`\u202e${'x'.repeat(500)}\u0007`) as { message: string }
  expect(message.length).toBeLessThan(300)
  expect(message).toMatch(/^[\x20-\x7e…]+$/)
})
