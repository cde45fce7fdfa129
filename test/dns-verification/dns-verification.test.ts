import { createHmac } from 'node:crypto'
import dns from 'node:dns/promises'
import { describe, expect, test, vi } from 'vitest'
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
  test('is the same for ever, for a team and a domain, and never another one', async () => {
    expect(await record('1', 'WWW.Example.com.')).toEqual({
      type: 'TXT',
      name: '_example-challenge.www.example.com',
      host: '_example-challenge.www',
      zone: 'example.com',
      value: createHmac('sha256', secret)
        .update('["dns-verification",1,"1","www.example.com"]')
        .digest('hex')
        .slice(0, 32),
    })
    const values = [
      ...(await Promise.all(['example.com', 'example.org', 'www.example.com'].map(domain => record('1', domain)))),
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
  const wait = (zone: string) =>
    `Prove that you control "${zone}": add the TXT record ${at(zone)} with the value VALUE to its DNS, and try again.`
  const unreachable = (code: string) =>
    `The DNS of "example.com" could not be asked for ${at('example.com')} (${code}), so the record may or may not be ` +
    'there. Try again later.'
  const hint = ' If you have just added it, resolvers may remember for some minutes that it was missing.'
  const others = (count: string) => ` There is such a record already, with ${count}; add yours beside it.`
  const name = at('example.com')

  test.each<[string, Reply, string]>([
    ['the value', txt(name, value), 'created'],
    ['the value among others', txt(name, 'v=spf1 -all', value, 'other'), 'created'],
    ['the value in several strings', txt(name, [value.slice(0, 9), value.slice(9)]), 'created'],
    ['the value in quotes, in capitals, with spaces', txt(name, ` "${value.toUpperCase()} " `), 'created'],
    ['an alias of a name with the value', alias(name, 'proofs.example.net', value), 'created'],
    ['NXDOMAIN', { rcode: 'NXDOMAIN' }, wait('example.com') + hint],
    ['NOERROR without a record', {}, wait('example.com') + hint],
    [
      'an alias of nothing',
      { answers: [{ type: 'CNAME', name, data: 'gone.example.net' }] },
      wait('example.com') + hint,
    ],
    ['an alias of itself', { answers: [{ type: 'CNAME', name, data: name }] }, wait('example.com') + hint],
    ['another value', txt(name, 'other'), wait('example.com') + others('another value')],
    ['the value within another text', txt(name, `x=${value}`), wait('example.com') + others('another value')],
    ['half of the value', txt(name, value.slice(0, 16)), wait('example.com') + others('another value')],
    ['an empty text', txt(name, ''), wait('example.com') + others('another value')],
    ['bytes beyond ASCII', txt(name, Buffer.from([0xe9, 0, 0xff])), wait('example.com') + others('another value')],
    ['a hundred texts', txt(name, ...Array(100).fill('x')), wait('example.com') + others('100 other values')],
    ['a cut-off answer, and the whole one over TCP', { ...txt(name, value), isTruncated: true }, 'created'],
    ['SERVFAIL', { rcode: 'SERVFAIL' }, unreachable('SERVFAIL')],
    ['REFUSED', { rcode: 'REFUSED' }, unreachable('REFUSED')],
    ['FORMERR', { rcode: 'FORMERR' }, unreachable('FORMERR')],
    ['NOTIMP', { rcode: 'NOTIMP' }, unreachable('NOTIMP')],
    ['nothing, within the time limit of a query', null, unreachable('TIMEOUT')],
  ])('%s', async (_, reply, expected) => {
    const server = await serveRecords({ [`TXT ${name}`]: reply })
    const [result] = await register(server, ['example.com'], reply === null ? 50 : undefined)
    const message = result?.status === 'invalid' ? result.message.replace(value, 'VALUE') : result?.status
    expect(message).toBe(expected)
    if (result?.status !== 'invalid') return
    expect(result).toMatchObject({ code: 'invalid_domain', record: await record('1', 'example.com') })
    expect(result.reason).toBe(expected.startsWith('The DNS') ? 'dns_unreachable' : 'not_verified')
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
    expect(results[1]).toEqual({ domain: '*.example.com', status: 'verified', at: at('example.com') })
    expect(server.asked).toEqual([`TXT ${at('example.com')}`])
  })

  test.each([
    ['a.b.c.d.example.com', ['example.com', 'd.example.com', 'c.d.example.com', 'a.b.c.d.example.com']],
    ['*.b.example.com', ['example.com', 'b.example.com']],
    ['www.me.github.io', ['me.github.io', 'www.me.github.io']],
    ['www.bücher.co.uk', ['xn--bcher-kva.co.uk', 'www.xn--bcher-kva.co.uk']],
  ])('a record proves %s at its registrable domain, two levels below it, and itself', async (name, domains) => {
    for (const domain of domains) {
      const { value } = await record('1', domain)
      const server = await serveRecords({ [at(domain)]: txt(at(domain), value) })
      expect(await create(server).verify('1', [name])).toMatchObject([{ status: 'verified', at: at(domain) }])
      expect(domains.map(each => `TXT ${at(each)}`)).toEqual(expect.arrayContaining(server.asked))
    }
    const server = await serveRecords({})
    expect(await create(server).verify('1', [name])).toMatchObject([{ status: 'missing' }])
    const questions = server.asked.filter(asked => !/^SOA|(.+)\.\1$/.test(asked))
    expect(questions.sort()).toEqual(domains.map(each => `TXT ${at(each)}`).sort())
  })

  test('a record proves nothing above it, beside it, or for another team', async () => {
    const { value } = await record('1', 'a.example.com')
    const server = await serveRecords({ [at('a.example.com')]: txt(at('a.example.com'), value) })
    const names = ['example.com', 'b.example.com', 'a.example.com', '*.a.example.com', 'x.y.a.example.com']
    const verified = ['missing', 'missing', 'verified', 'verified', 'verified']
    expect(statuses(await create(server).verify('1', names))).toEqual(verified)
    expect(statuses(await create(server).verify('2', names))).toEqual(names.map(() => 'missing'))
  })

  test('a value that lies at another of its levels proves nothing: it is that of its domain', async () => {
    const server = await serveRecords({ [at('www.example.com')]: txt(at('www.example.com'), value) })
    expect(statuses(await create(server).verify('1', ['www.example.com']))).toEqual(['missing'])
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
    const missing = await create(await serveRecords({ [at('example.org')]: txt(at('example.org'), `x${other}`) }))
    expect(statuses(await missing.verify('1', [name]))).toEqual(['missing'])
  })

  test('the secret rotates: both prove, and records are made with the new one', async () => {
    const newSecret = 'another secret, which is also long enough'
    const rotating = createDnsVerification({ label, secret: [newSecret, secret] })
    const { value: newValue } = await rotating.record('1', 'example.com')
    expect(newValue).toBe((await createDnsVerification({ label, secret: newSecret }).record('1', 'example.com')).value)
    for (const text of [value, newValue]) {
      const server = await serveRecords({ [at('example.com')]: txt(at('example.com'), text) })
      const results = await create(server, { secret: [newSecret, secret] }).verify('1', ['example.com'])
      expect(statuses(results)).toEqual(['verified'])
    }
  })
})

describe('what helps to find a mistake', () => {
  test('a value at a name that ends in the domain twice', async () => {
    const doubled = `${at('example.com')}.example.com`
    const server = await serveRecords({ [doubled]: txt(doubled, value) })
    const [result] = await register(server, ['www.example.com'])
    expect(result).toMatchObject({ reason: 'not_verified', message: expect.stringContaining('enter only "_example-') })
    expect(await create(server).verify('1', ['www.example.com'])).toMatchObject([{ doubled: true }])
    const foreign = await serveRecords({ [doubled]: txt(doubled, 'v=spf1 -all') })
    expect(await create(foreign).verify('1', ['www.example.com'])).toMatchObject([{ doubled: false }])
  })

  test('until when "no such record" may be remembered, from the SOA of the zone', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: new Date('2026-01-02T10:20:30Z') })
    const soa = (minimum: number): Reply => ({
      answers: [{ type: 'SOA', name: 'example.com', ttl: 60, data: { mname: 'ns.example.com', rname: 'a', minimum } }],
    })
    try {
      for (const [minimum, time] of [
        [1800, 'until 2026-01-02 10:51 UTC'],
        [1_000_000, 'until 2026-01-02 13:21 UTC'],
        [0, 'for some minutes'],
      ] as const) {
        const [result] = await register(await serveRecords({ 'SOA example.com': soa(minimum) }), ['a.example.com'])
        expect(result).toMatchObject({ message: expect.stringContaining(`may remember ${time} that`) })
      }
    } finally {
      vi.useRealTimers()
    }
  })

  test('a zone below that fails: the record of the registrable domain would do', async () => {
    const server = await serveRecords({ [at('www.example.com')]: { rcode: 'SERVFAIL' } })
    const [result] = await register(server, ['www.example.com'])
    const message = `The DNS of "example.com" could not be asked for ${at('www.example.com')} (SERVFAIL). Try \
again later, or add the TXT record ${at('example.com')} with the value ${value}.`
    expect(result).toMatchObject({ reason: 'dns_unreachable', message, record: await record('1', 'example.com') })
  })
})

const alias = (name: string, target: string, value: string): Reply => ({
  answers: [{ type: 'CNAME', name, data: target }, ...txt(target, value).answers],
})
