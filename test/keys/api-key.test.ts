import { createHash } from 'node:crypto'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { generateApiKey, hashApiKey, parseApiKey } from '../../src/index.ts'
import { rejection } from '../fixtures.ts'

describe('parseApiKey', () => {
  test.each([
    ['svc_org_10_abc', { type: 'organization', id: '10', secret: 'abc' }],
    ['svc_team_3_abc', { type: 'team', id: '3', secret: 'abc' }],
    ['svc_team_3_a_b-c.d~e+f/g==', { type: 'team', id: '3', secret: 'a_b-c.d~e+f/g==' }],
    ['svc_team_007_x', { type: 'team', id: '007', secret: 'x' }],
    [`svc_team_3_${'a'.repeat(501)}`, { type: 'team', id: '3', secret: 'a'.repeat(501) }],
  ])('%s is parsed', (text, key) => {
    expect(parseApiKey(text)).toEqual(key)
  })

  test.each([
    ...['', 'svc', 'svc_', 'svc_org_', 'svc_org_10', 'svc_org_10_', 'svc_org__abc', 'svc_org_x_abc'],
    ...['svc_org_-1_abc', 'svc_org_１_abc', 'svc_team_3_ab c', 'svc_team_3_abc\n', 'svc_team_3_äbc'],
    ...['svc_team_3_a=b', 'svc_user_3_abc', 'SVC_team_3_abc', 'svc_Team_3_abc'],
    'svc_10_abc', // the old form, without a type
    ...['svc_abc', 'other_team_3_abc', 'xsvc_team_3_abc', 'svcfoo_org_1_x', ' svc_team_3_abc'],
    ...[`svc_team_3_${'a'.repeat(502)}`, `svc_team_${'1'.repeat(600)}_a`],
    ...[null, undefined, 42, {}, [['svc_team_3_abc']]],
  ])('%j is not a key', value => {
    expect(parseApiKey(value as never)).toBeNull()
  })

  test('a misspelled or invalid option is a TypeError that names it', () => {
    expect(() => parseApiKey('svc_team_3_abc', { prefx: 'acme' } as never)).toThrow('The option "prefx" does not exist')
    expect(() => parseApiKey('svc_team_3_abc', { prefix: '' })).toThrow('The option "prefix" must be')
  })

  test('only API keys with the configured prefix are parsed', () => {
    expect(parseApiKey('acme_team_3_abc', { prefix: 'acme' })).toEqual({ type: 'team', id: '3', secret: 'abc' })
    expect(parseApiKey('svc_team_3_abc', { prefix: 'acme' })).toBeNull()
  })
})

describe('generateApiKey', () => {
  test.each([
    ['organization', '10', /^svc_org_10_[0-9a-f]{64}$/],
    ['team', '3', /^svc_team_3_[0-9a-f]{64}$/],
  ] as const)('a new key for the owner type "%s" has 256 random bits and can be parsed', async (type, id, shape) => {
    const { key, hash } = await generateApiKey({ type, id })
    expect(key).toMatch(shape)
    expect(parseApiKey(key)).toMatchObject({ type, id })
    expect(hash).toBe(await hashApiKey(key))
  })

  test('a new key can be up to 512 characters long', async () => {
    expect((await generateApiKey({ type: 'team', id: '1'.repeat(438) })).key).toHaveLength(512)
  })

  test('no two keys are the same', async () => {
    const keys = await Promise.all(Array.from({ length: 1000 }, () => generateApiKey({ type: 'team', id: '3' })))
    expect(new Set(keys.map(({ key }) => key)).size).toBe(1000)
  })

  test('the hint of a new key shows only the last four characters of its secret', async () => {
    const { key, hint } = await generateApiKey({ type: 'team', id: '3', prefix: 'acme' })
    expect(hint).toBe(`acme_team_3_…${key.slice(-4)}`)
  })

  test.each<[options: unknown, message: RegExp]>([
    [{ type: 'team', id: '' }, /"id" must be the owner's ID, a string of digits; it is ""$/],
    [{ type: 'team', id: '1_2' }, /"id" must be/],
    [{ type: 'team', id: 3 }, /"id" must be .* it is 3$/],
    [{ type: 'team' }, /"id" must be .* it is undefined$/],
    [{ type: 'user', id: '3' }, /"type" must be "organization" or "team"; it is "user"$/],
    [{ type: 'teams', id: '3' }, /"type" must be/],
    [{ type: 'a team', id: '3' }, /"type" must be/],
    [{ type: 'team', id: '3', prefix: '' }, /"prefix" must be one or more ASCII letters and digits/],
    [{ type: 'team', id: '3', prefix: 'a_b' }, /"prefix" must be/],
    [{ type: 'team', id: '3', prefx: 'a' }, /"prefx" does not exist/],
    [{ type: 'team', id: '1'.repeat(439) }, /^The key would be longer than 512 characters$/],
    [undefined, /^The options must be an object$/],
  ])('rejects the options %j', async (options, message) => {
    const error = await rejection(generateApiKey(options as never))
    expect(error).toBeInstanceOf(TypeError)
    expect((error as Error).message).toMatch(message)
  })
})

describe('hashApiKey', () => {
  const keys = ['', 'svc_team_3_abc', 'ключ', 'a lone surrogate: \ud800', 'a'.repeat(512)]
  const expected = keys.map(key => createHash('sha256').update(Buffer.from(key)).digest('hex'))

  afterEach(() => {
    vi.unstubAllGlobals()
    vi.resetModules()
  })

  test('returns the SHA-256 in lower-case hex, computed with node:crypto instead of WebCrypto on Node', async () => {
    const digest = vi.spyOn(crypto.subtle, 'digest')
    expect(await Promise.all(keys.map(hashApiKey))).toEqual(expected)
    expect(digest).not.toHaveBeenCalled()
    digest.mockRestore()
  })

  test.each([
    ['without a global process', undefined],
    ['whose process provides no built-in modules', {}],
    ['whose process does not provide node:crypto', { getBuiltinModule: () => undefined }],
    [
      'where process.getBuiltinModule throws, as in Next.js’s edge runtime',
      {
        getBuiltinModule() {
          throw new Error(
            'A Node.js API is used (process.getBuiltinModule) which is not supported in the Edge Runtime.',
          )
        },
      },
    ],
  ])('returns the same hash with WebCrypto in a runtime %s', async (_runtime, process) => {
    const digest = vi.spyOn(crypto.subtle, 'digest')
    vi.resetModules()
    const { hashApiKey } = await import('../../src/keys/api-key.ts')
    vi.stubGlobal('process', process)
    const first = hashApiKey('the first asks which runtime it is')
    vi.unstubAllGlobals()
    await first
    expect(await Promise.all(keys.map(hashApiKey))).toEqual(expected)
    expect(digest).toHaveBeenCalledTimes(keys.length + 1)
    digest.mockRestore()
  })
})
