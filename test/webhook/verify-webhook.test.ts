import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { verifyWebhook, type WebhookHeaders, WebhookVerificationError } from '../../src/webhook/index.ts'
import { rejection } from '../fixtures.ts'

const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'

/**
 * This vector is in the tests of all libraries of https://github.com/standard-webhooks/standard-webhooks at b2fa7b8.
 */
const vector = {
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
  body: '{"test": 2432232314}',
}
const sentAt = 1_614_265_330_000
beforeEach(() => void vi.useFakeTimers({ now: sentAt, toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

describe('the public test vector is accepted', () => {
  const { headers, body } = vector
  const wrong = 'v1,Ceo5qEr07ixe2NLpvHk3FH9bwy/WavXrAFQ/9tdO6mc='
  const signature = headers['webhook-signature']
  test.each<[how: string, headers: WebhookHeaders, body: string | Uint8Array, secret: string | readonly string[]]>([
    ['unchanged', headers, body, secret],
    ['with the body as bytes', headers, Buffer.from(body), secret],
    ['with a Headers object', new Headers(headers), body, secret],
    [
      'with each header in an array',
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value]])),
      body,
      secret,
    ],
    [
      'with header names in upper case',
      Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value])),
      body,
      secret,
    ],
    ['with a secret that lacks its prefix', headers, body, secret.slice(6)],
    ['with two secrets, one of which matches', headers, body, [`whsec_${btoa('x'.repeat(24))}`, secret]],
    [
      'with many signatures, one of which matches',
      { ...headers, 'webhook-signature': `${wrong} ${signature.replace('v1', 'v1a')} v1, ${signature}` },
      body,
      secret,
    ],
    ...[`${signature}, ${wrong}`, `${wrong},${signature}`, `${signature} ${wrong},${wrong}`].map(
      joined =>
        [
          `with two signature headers joined as ${joined}`,
          { ...headers, 'webhook-signature': joined },
          body,
          secret,
        ] as [string, WebhookHeaders, string, string],
    ),
    [
      'with two signature headers in an array',
      { ...headers, 'webhook-signature': [signature, wrong] as readonly string[] },
      body,
      secret,
    ],
  ])('%s', async (_, ...call) => {
    expect(await verifyWebhook(...call)).toEqual({ test: 2432232314 })
  })
})

test.each([
  [undefined, 300],
  [600_000, 600],
])(
  'with the tolerance %s, the clocks may differ by %i seconds in either direction, but no more',
  async (tolerance, most) => {
    const { headers, body } = vector
    for (const direction of [-1, 1]) {
      vi.setSystemTime(sentAt + direction * most * 1000)
      expect(await verifyWebhook(headers, body, secret, { tolerance })).toEqual({ test: 2432232314 })
      vi.setSystemTime(sentAt + direction * (most + 1) * 1000)
      const error = await rejection(verifyWebhook(headers, body, secret, { tolerance }))
      expect(error).toBeInstanceOf(WebhookVerificationError)
    }
  },
)

test('verifyWebhook returns the body that it verified, even if the bytes change during the check', async () => {
  const bytes = Buffer.from(vector.body)
  const verified = verifyWebhook(vector.headers, bytes, secret)
  bytes.write('9', vector.body.indexOf('2'))
  expect(await verified).toEqual({ test: 2432232314 })
})

describe('a request', () => {
  const { headers, body } = vector
  const signature = headers['webhook-signature']
  test.each<[why: string, headers: WebhookHeaders, body?: string | Uint8Array]>([
    ['whose body was changed', headers, '{"test": 2432232315}'],
    ['whose body is empty', headers, ''],
    ['whose bytes are not UTF-8', headers, Buffer.from([0xff])],
    ['whose ID was changed', { ...headers, 'webhook-id': 'msg_other' }],
    ['whose timestamp was changed', { ...headers, 'webhook-timestamp': '1614265331' }],
    ['without an ID', { ...headers, 'webhook-id': undefined }],
    ['without a timestamp', { ...headers, 'webhook-timestamp': '' }],
    ['whose ID is null (what Headers returns for a missing header)', { ...headers, 'webhook-id': null as never }],
    ['whose signature is a number', { ...headers, 'webhook-signature': 1 as never }],
    ['without a signature', { ...headers, 'webhook-signature': undefined }],
    ['without headers', {}],
    ['with an invalid timestamp', { ...headers, 'webhook-timestamp': '1614265330.0' }],
    ['whose ID contains a full stop', { ...headers, 'webhook-id': 'msg.1614265330' }],
    ['with a signature of another version', { ...headers, 'webhook-signature': signature.replace('v1', 'v2') }],
    ...[
      signature.slice(0, 23),
      signature.slice(0, -1),
      signature.replace('E=', 'F='),
      signature.replace('E=', 'EE'),
      `${signature}=`,
      'v1,',
      'v1,ö v1, v1,= v1',
    ].map(
      wrong => [`with the signature ${wrong}`, { ...headers, 'webhook-signature': wrong }] as [string, WebhookHeaders],
    ),
  ])('%s is rejected', async (_, changed, changedBody = body) => {
    expect(await rejection(verifyWebhook(changed, changedBody, secret))).toBeInstanceOf(WebhookVerificationError)
  })

  test('whose ID contains a part of the signed body is rejected, although the signature stays valid', async () => {
    const signed = new Webhook(secret).sign('msg_1', new Date(sentAt), '1614265330.{}')
    const moved = {
      'webhook-id': 'msg_1.1614265330',
      'webhook-timestamp': '1614265330',
      'webhook-signature': signed,
    }
    expect(await rejection(verifyWebhook(moved, '{}', secret))).toBeInstanceOf(WebhookVerificationError)
  })

  test('that was signed with another secret is rejected', async () => {
    const other = `whsec_${btoa('x'.repeat(24))}`
    expect(await rejection(verifyWebhook(headers, body, other))).toEqual(
      new WebhookVerificationError('No signature matches'),
    )
  })

  test('whose body is not JSON is rejected even if its signature matches', async () => {
    const signature = new Webhook(secret).sign('msg_1', new Date(sentAt), 'no JSON')
    const signed = { ...headers, 'webhook-id': 'msg_1', 'webhook-signature': signature }
    expect(String(await rejection(verifyWebhook(signed, 'no JSON', secret)))).toMatch(/not JSON/)
  })
})

test('verification computes one HMAC for each secret, even for many signatures', async () => {
  const { headers, body } = vector
  const wrong = `v1,${btoa('x'.repeat(32))}`
  const sign = vi.spyOn(crypto.subtle, 'sign')
  const verify = vi.spyOn(crypto.subtle, 'verify')
  const many = { ...headers, 'webhook-signature': `${`${wrong} `.repeat(500)}${headers['webhook-signature']}` }
  expect(await verifyWebhook(many, body, [`whsec_${btoa('x'.repeat(24))}`, secret])).toEqual({ test: 2432232314 })
  expect(sign.mock.calls.length + verify.mock.calls.length).toBe(2)
})

test.each([
  [
    'a tolerance in seconds instead of milliseconds',
    { tolerance: 300 },
    /"tolerance" must be an integer of at least 1,000 \(milliseconds\); it is 300$/,
  ],
  ['a tolerance that is not a number', { tolerance: '300000' }, /"tolerance" must be/],
  ['an unknown option', { tolerence: 300_000 }, /The option "tolerence" does not exist; there are "tolerance"$/],
])('verifyWebhook rejects %s', async (_, options, message) => {
  const error = await rejection(verifyWebhook(vector.headers, vector.body, secret, options as never))
  expect(error).toBeInstanceOf(TypeError)
  expect((error as Error).message).toMatch(message)
})

test('verifyWebhook throws a TypeError for a parsed body or an invalid secret', async () => {
  const { headers, body } = vector
  expect(await rejection(verifyWebhook(headers, JSON.parse(body), secret))).toBeInstanceOf(TypeError)
  const error = await rejection(verifyWebhook(headers, body, 'hidden'))
  expect(error).toBeInstanceOf(TypeError)
  expect(String(error)).not.toContain('hidden')
})
