import { createHmac } from 'node:crypto'
import dns from 'node:dns/promises'
import { describe, expect, test } from 'vitest'
import { createVerification } from '../../src/dns-verification/create-dns-verification.ts'
import { createDnsVerification, type DnsVerificationOptions } from '../../src/dns-verification/index.ts'
import { openNodeResolver } from '../../src/dns-verification/resolver.ts'
import { previewDomains, registerDomains } from '../../src/index.ts'
import { createStore, team1 } from '../fixtures.ts'
import { type DnsServer, type Reply, type Script, txt } from './dns-server.ts'
import { serveDns, serveRecords } from './serve-dns.ts'

const label = '_example-challenge'
const secret = 'the secret of the tests, 32 bytes and more'
const at = (domain: string) => `${label}.${domain}`

/** No test waits for a limit, unless it is about one and passes a short one. */
const create = ({ address }: DnsServer, options: Partial<DnsVerificationOptions> = {}, queryTimeLimit = 60_000) =>
  createVerification(
    { label, secret, timeLimit: 60_000, onError() {}, ...options },
    closed => openNodeResolver(dns, { servers: [address] }, closed),
    queryTimeLimit,
  )

const { record } = createDnsVerification({ label, secret })
const { value } = await record('1', 'example.com')
const { value: valueOfTeam2 } = await record('2', 'example.com')
const { value: valueOfAnotherDomain } = await record('1', 'example.org')

/** Previews and registers names as team 1; both must agree. */
async function register(server: DnsServer, domains: readonly string[], queryTimeLimit?: number) {
  const { checkNames } = create(server, {}, queryTimeLimit)
  const preview = await previewDomains(team1, { domains }, createStore(), { checkNames })
  const { data } = await registerDomains(team1, { domains }, createStore(), { checkNames })
  const toMessages = (results: readonly { status: string; message?: string }[]) =>
    results.map(each => each.message ?? each.status)
  expect(toMessages(preview.data.results)).toEqual(toMessages(data.results))
  return preview.data.results
}

describe('the record', () => {
  test('is the same for ever, for a team and a registrable domain, and never another one', async () => {
    expect(await record('1', 'WWW.Example.com.')).toEqual({
      type: 'TXT',
      name: '_example-challenge.www.example.com',
      host: '_example-challenge.www',
      zone: 'example.com',
      value: createHmac('sha256', secret).update('["dns-verification",1,"1","example.com"]').digest('hex').slice(0, 32),
    })
    const values = [
      ...(await Promise.all(['example.com', 'example.org', 'me.github.io'].map(domain => record('1', domain)))),
      ...(await Promise.all(['2', '11'].map(team => record(team, 'example.com')))),
      await createDnsVerification({ label, secret: `${secret}!` }).record('1', 'example.com'),
    ].map(each => each.value)
    expect(new Set(values).size).toBe(values.length)
    expect(values.every(each => /^[0-9a-f]{32}$/.test(each))).toBe(true)
  })

  test('of a wildcard is that of its base, and of an international name in A-labels', async () => {
    expect(await record('1', '*.example.com')).toEqual(await record('1', 'example.com'))
    expect(await record('1', 'Bücher.de')).toMatchObject({ name: at('xn--bcher-kva.de'), zone: 'xn--bcher-kva.de' })
    expect(await record('1', 'me.github.io')).toMatchObject({ host: label, zone: 'me.github.io' })
  })

  test.each(['8.8.8.8', 'co.uk', 'github.io', 'localhost', ''])('of %j does not exist', async domain => {
    await expect(record('1', domain)).rejects.toThrow(TypeError)
  })
})

describe('each row of what the DNS may say', () => {
  const name = at('example.com')
  const wanted = `Prove that you control "example.com": add the TXT record ${name} with the value VALUE to its DNS.`
  const absent = 'If you have just added it, resolvers may remember for some minutes that it was missing.'
  const unreachable = (code: string) =>
    `The DNS of "example.com" could not be asked for ${name} (${code}), so the record may or may not be there.`
  const lasting = ' If this lasts, ask your DNS provider.'

  test.each<[string, Reply, string]>([
    ['the value', txt(name, value), 'created'],
    ['the value among others', txt(name, 'v=spf1 -all', value, 'other'), 'created'],
    ['the value in several strings', txt(name, [value.slice(0, 9), value.slice(9)]), 'created'],
    ['an alias of a name with the value', alias(name, 'proofs.example.net', value), 'created'],
    ['NXDOMAIN', { rcode: 'NXDOMAIN' }, `${wanted} ${absent}`],
    ['NOERROR without a record', {}, `${wanted} ${absent}`],
    ['another value', txt(name, 'other'), `${wanted} There is "other"; add yours beside it.`],
    ['an empty text', txt(name, ''), `${wanted} There is ""; add yours beside it.`],
    [
      'a long text with control characters and bytes beyond ASCII',
      txt(name, Buffer.from(`\x1b[31m\u202e\u0000${'x'.repeat(200)}`)),
      `${wanted} There is "\\u{1b}[31mâ\\u{80}®\\u{0}${'x'.repeat(50)}…"; add yours beside it.`,
    ],
    [
      'a hundred texts',
      txt(name, ...Array(100).fill('x')),
      `${wanted} There are 100 other values, such as "x"; add yours beside them.`,
    ],
    ['a cut-off answer, and the whole one over TCP', { ...txt(name, value), isTruncated: true }, 'created'],
    ['SERVFAIL', { rcode: 'SERVFAIL' }, unreachable('SERVFAIL') + lasting],
    ['REFUSED', { rcode: 'REFUSED' }, unreachable('REFUSED') + lasting],
    ['FORMERR', { rcode: 'FORMERR' }, unreachable('FORMERR')],
    ['NOTIMP', { rcode: 'NOTIMP' }, unreachable('NOTIMP')],
    ['nothing, within the time limit of a query', null, unreachable('TIMEOUT')],
  ])('%s', async (_, reply, expected) => {
    const server = await serveRecords({ [`TXT ${name}`]: reply })
    const [result] = await register(server, ['example.com'], reply === null ? 50 : undefined)
    const message = result?.status === 'invalid' ? result.message.replace(value, 'VALUE') : result?.status
    expect(message).toBe(expected === 'created' ? expected : `${expected} Send it again later.`)
    if (result?.status !== 'invalid') return
    expect(result).toMatchObject({ code: 'invalid_domain', record: await record('1', 'example.com') })
    expect(result.reason).toBe(expected.startsWith('The DNS') ? 'dns_unreachable' : 'not_verified')
  })

  test.each<[string, string]>([
    ['in quotes, in capitals, with spaces', ` "${value.toUpperCase()} " `],
    ['after a key', `token=${value}`],
    ['after the label', `${label}=${value}`],
    ['as the draft of the IETF writes it', `token=${value} expiry=never`],
    ['with the dot of the root', `${value}.`],
    ['in doubled quotes', `""${value}""`],
    ['in curly quotes', `\u201c${value}\u201d`],
    ['after a no-break space', `\u00a0${value}`],
    ['with zero-width spaces around it', `\u200b${value}\u200b`],
    ['in a whole line of a zone file', `${name}. 3600 IN TXT "${value}"`],
  ])('the value %s counts', async (_, text) => {
    const server = await serveRecords({ [`TXT ${name}`]: txt(name, Buffer.from(text)) })
    expect((await register(server, ['example.com']))[0]).toMatchObject({ status: 'created' })
  })

  test.each<[string, string]>([
    ['without its last digit', value.slice(0, -1)],
    ['of another team', valueOfTeam2],
    ['of another domain', valueOfAnotherDomain],
    ['with a space in it', `${value.slice(0, 16)} ${value.slice(16)}`],
  ])('the value %s does not, and is shown', async (_, text) => {
    const server = await serveRecords({ [`TXT ${name}`]: txt(name, text) })
    const [result] = await register(server, ['example.com'])
    expect(result).toMatchObject({ reason: 'not_verified', message: expect.stringContaining(`There is "${text}";`) })
  })
})

test.each<[string, Script]>([
  [
    'a cut-off answer, and silence over TCP',
    (_, __, transport) => (transport === 'udp' ? { isTruncated: true } : null),
  ],
  ['bytes that are no message', () => Buffer.from('no message')],
])('%s is no answer: the record may or may not be there', async (_, script) => {
  const server = await serveDns(script)
  const [result] = await create(server, {}, 300).verify('1', ['example.com'])
  expect(result).toMatchObject({ status: 'unreachable', at: at('example.com') })
  expect(server.asked[0]).toBe(`TXT ${at('example.com')}`)
})

describe('where the record may lie', () => {
  const statuses = (results: readonly { status: string }[]) => results.map(({ status }) => status)

  test('one record of the registrable domain proves it and all names below it, by one query', async () => {
    const server = await serveRecords({ [at('example.com')]: txt(at('example.com'), value) })
    const names = Array.from({ length: 98 }, (_, index) => `n${index}.a.b.c.example.com`)
    const results = await create(server).verify('1', ['example.com', '*.example.com', ...names])
    expect(new Set(statuses(results))).toEqual(new Set(['verified']))
    expect(results[1]).toEqual({ domain: '*.example.com', status: 'verified', at: at('example.com'), secret: 0 })
    expect(server.asked).toEqual([`TXT ${at('example.com')}`])
  })

  test.each([
    ['b.c.d.example.com', ['example.com', 'd.example.com', 'c.d.example.com', 'b.c.d.example.com']],
    ['*.b.example.com', ['example.com', 'b.example.com']],
    ['www.me.github.io', ['me.github.io', 'www.me.github.io']],
    ['www.bücher.co.uk', ['xn--bcher-kva.co.uk', 'www.xn--bcher-kva.co.uk']],
  ])('the same value proves %s at its registrable domain, at itself, and between', async (name, domains) => {
    const [zone = ''] = domains
    const { value } = await record('1', zone)
    for (const domain of domains) {
      expect(await record('1', domain)).toMatchObject({ name: at(domain), value })
      const server = await serveRecords({ [at(domain)]: txt(at(domain), value) })
      expect(await create(server).verify('1', [name])).toMatchObject([{ status: 'verified', at: at(domain) }])
      const { checkNames } = create(server)
      const { data } = await registerDomains(team1, { domains: [name] }, createStore(), { checkNames })
      expect(data.totals.created).toBe(1)
    }
    const server = await serveRecords({})
    expect(await create(server).verify('1', [name])).toMatchObject([{ status: 'missing' }])
    expect(server.asked).toEqual(expect.arrayContaining(domains.map(each => `TXT ${at(each)}`)))
  })

  test('a record below the registrable domain proves nothing above it, beside it, or for another team', async () => {
    const server = await serveRecords({ [at('a.example.com')]: txt(at('a.example.com'), value) })
    const names = ['example.com', '*.example.com', 'b.example.com', 'a.example.com', '*.a.example.com']
    const verified = ['missing', 'missing', 'missing', 'verified', 'verified']
    expect(statuses(await create(server).verify('1', names))).toEqual(verified)
    expect(statuses(await create(server).verify('2', names))).toEqual(names.map(() => 'missing'))
  })

  test("the value of a public suffix's operator proves no customer below it", async () => {
    const { value } = await record('1', 'me.github.io')
    const server = await serveRecords({ [at('github.io')]: txt(at('github.io'), value) })
    expect(statuses(await create(server).verify('1', ['me.github.io']))).toEqual(['missing'])
  })

  test("of a customer's names below an unproven zone, ten are looked at: those that prove the most", async () => {
    const places = Array.from({ length: 50 }, (_, index) => `n${index}.example.com`)
    const domains = [...places.slice(0, 40), ...places.slice(40).map(place => `www.shop.${place}`), 'x.n30.example.com']
    const server = await serveRecords({ [at('n30.example.com')]: txt(at('n30.example.com'), value) })
    const results = await register(server, domains)
    const created = ['n30.example.com', 'x.n30.example.com']
    for (const [index, result] of results.entries())
      expect(result.status).toBe(created.includes(domains[index] ?? '') ? 'created' : 'invalid')
    expect(server.asked.length).toBeLessThanOrEqual(2 * 16)
    const message = expect.stringContaining('A record for a name below "example.com" is looked for at ten names')
    expect(results[39]).toMatchObject({ message })
    // A recheck looks at all, so it does not believe that a record is missing that it has not looked for.
    expect(statuses(await create(server).verify('1', places)).filter(status => status === 'verified')).toHaveLength(1)
    const far = await serveRecords({ [at('n49.example.com')]: txt(at('n49.example.com'), value) })
    expect((await create(far).verify('1', places))[49]).toMatchObject({ status: 'verified' })
  })

  test('of a name that lies deep, the ten domains nearest to its zone are looked at', async () => {
    const server = await serveRecords({})
    const labels = Array.from({ length: 12 }, (_, index) => `l${index}`)
    await create(server).verify('1', [[...labels, 'example.com'].join('.')])
    const places = labels.map((_, index) => at([...labels.slice(index), 'example.com'].join('.')))
    expect(places.filter(place => server.asked.includes(`TXT ${place}`))).toEqual(places.slice(2))
  })

  test('an address, a public suffix and a string that is not a hostname are not asked about', async () => {
    const server = await serveRecords({})
    const names = ['8.8.8.8', '2001:4860:4860::8888', 'co.uk', '*.github.io', 'localhost', 'a b', '']
    expect(new Set(statuses(await create(server).verify('1', names)))).toEqual(new Set(['impossible']))
    const [result] = await register(server, ['8.8.8.8'])
    expect(result).toMatchObject({ code: 'invalid_domain', reason: 'not_verifiable' })
    expect(result).not.toHaveProperty('record')
    expect(server.asked).toEqual([])
  })

  test('a name that is too long with the label is proven above it, or cannot be proven', async () => {
    const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(40)}.example.com`
    const server = await serveRecords({ [at('example.com')]: txt(at('example.com'), value) })
    expect(statuses(await create(server).verify('1', [long]))).toEqual(['verified'])
    const { value: other } = await record('1', 'example.org')
    const name = `${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.${'d'.repeat(40)}.example.org`
    const missing = await create(await serveRecords({ [at('example.org')]: txt(at('example.org'), other.slice(1)) }))
    expect(statuses(await missing.verify('1', [name]))).toEqual(['missing'])
  })

  test('the secret rotates: both prove, it is seen which one does, and records are made with the new one', async () => {
    const newSecret = 'another secret, which is also long enough'
    const rotating = createDnsVerification({ label, secret: [newSecret, secret] })
    const { value: newValue } = await rotating.record('1', 'example.com')
    expect(newValue).toBe((await createDnsVerification({ label, secret: newSecret }).record('1', 'example.com')).value)
    for (const [texts, index] of [
      [[value], 1],
      [[newValue], 0],
      [[value, newValue], 0],
    ] as const) {
      const server = await serveRecords({ [at('example.com')]: txt(at('example.com'), ...texts) })
      const results = await create(server, { secret: [newSecret, secret] }).verify('1', ['example.com'])
      expect(results).toMatchObject([{ status: 'verified', secret: index }])
    }
  })
})

describe('what helps to find a mistake', () => {
  const name = at('example.com')
  const other = txt('any', 'v=spf1 -all').answers
  const enter = 'enter only "_example-challenge" as its name.'

  test.each<[string, Record<string, Reply>, object | undefined, string]>([
    [
      'the DNS provider adds the domain by itself',
      { [`${name}.example.com`]: txt('any', value) },
      { kind: 'elsewhere', at: `${name}.example.com` },
      `The value is at ${name}.example.com: your DNS provider adds "example.com" by itself, so ${enter}`,
    ],
    [
      'the record has no label',
      { 'TXT example.com': txt('any', 'v=spf1 -all', value) },
      { kind: 'elsewhere', at: 'example.com' },
      `The value is at example.com: in the zone "example.com", ${enter}`,
    ],
    [
      'the label lacks its underscore',
      { 'TXT example-challenge.example.com': txt('any', value) },
      { kind: 'elsewhere', at: 'example-challenge.example.com' },
      `The value is at example-challenge.example.com: in the zone "example.com", ${enter}`,
    ],
    [
      'the record is a CNAME of the value',
      { [name]: { answers: [{ type: 'CNAME', name, data: `${value}.example.com` }] } },
      { kind: 'alias', of: `${value}.example.com` },
      `${name} is an alias (CNAME) of "${value}.example.com", and nothing can be added beside it: replace it.`,
    ],
    [
      'the name is an alias of one with other texts',
      { [name]: { answers: [{ type: 'CNAME', name, data: 'a.net' }, ...other] } },
      { kind: 'alias', of: 'a.net' },
      `${name} is an alias (CNAME) of "a.net", and nothing can be added beside it: replace it.`,
    ],
    [
      'all names of the zone have a text',
      { [name]: { answers: other }, [`${value}.example.com`]: { answers: other } },
      { kind: 'wildcard', text: 'v=spf1 -all' },
      '"v=spf1 -all" is there, from a record for all names (*.example.com); add one for this name.',
    ],
    [
      'all names of the zone are an alias without a text',
      Object.fromEntries(
        [name, `${value}.example.com`].map(name => [
          name,
          { answers: [{ type: 'CNAME' as const, name, data: 'a.net' }] },
        ]),
      ),
      undefined,
      'resolvers may remember for some minutes',
    ],
    [
      'a text that is not the value lies at the doubled name',
      { [`${name}.example.com`]: { answers: other } },
      undefined,
      'resolvers may remember for some minutes',
    ],
  ])('%s', async (_, replies, mistake, sentence) => {
    const server = await serveRecords(replies)
    const [result] = await register(server, ['www.example.com'])
    expect(result).toMatchObject({ reason: 'not_verified', message: expect.stringContaining(sentence) })
    const [{ mistake: found } = {}] = (await create(server).verify('1', ['www.example.com'])) as readonly {
      mistake?: object
    }[]
    expect(found).toEqual(mistake)
  })

  test('a zone below that fails: the record of the registrable domain would do', async () => {
    const server = await serveRecords({ [at('www.example.com')]: { rcode: 'SERVFAIL' } })
    const [result] = await register(server, ['www.example.com'])
    const message = `The DNS of "example.com" could not be asked for ${at('www.example.com')} (SERVFAIL); \
${at('example.com')} with the value ${value} would do. If this lasts, ask your DNS provider. Send it again later.`
    expect(result).toMatchObject({ reason: 'dns_unreachable', message, record: await record('1', 'example.com') })
  })
})

const alias = (name: string, target: string, value: string): Reply => ({
  answers: [{ type: 'CNAME', name, data: target }, ...txt(target, value).answers],
})
