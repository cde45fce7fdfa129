import { inspect } from 'node:util'
import { expect, test } from 'vitest'
import { type DomainsRouterOptions, domainsRouter } from '../../src/http/express.ts'
import { domainsHandler } from '../../src/http/fetch.ts'
import { createHandler } from '../../src/http/index.ts'
import { createKeys, createStore, team1 } from '../fixtures.ts'

const right = { store: createStore(), keys: createKeys().keys }
const authenticate = () => ({ type: 'team', teamId: '1', scopes: [] })
const rateLimiter = { consume: async () => ({ msBeforeNext: 0, remainingPoints: 1 }) }

/** Functions that take an adapter's options, and reject invalid options at once, not at the first call. */
const makers: [string, (options: never) => unknown][] = [
  ['createHandler', createHandler],
  ['domainsRouter', domainsRouter],
  ['domainsHandler', domainsHandler],
]

test.each(makers)('%s accepts valid options', (_, make) => {
  const { store, keys } = right
  const others = { keyPrefix: 'acme1', bodyLimit: 1, timeLimit: 0.5, onError: () => {}, rateLimiter }
  for (const options of [
    right,
    { store, authenticate },
    { store, keys, ...others },
    { store, keys, authenticate: undefined, bodyLimit: undefined, rateLimiter: undefined },
  ])
    expect(() => make(options as never)).not.toThrow()
})

const wrong: [what: string, message: RegExp, options: unknown][] = [
  ['a missing store', /"store" must be a DomainStore, .* it is undefined$/, {}],
  ['a store without most of its methods', /"store" must be a DomainStore/, { ...right, store: { findTeam() {} } }],
  ['missing `keys`', /"keys" must be a KeyStore, .* "authenticate" instead/, { store: right.store }],
  ['a Map as `keys`', /"keys" must be a KeyStore/, { ...right, keys: new Map() }],
  ['both `keys` and `authenticate`', /never both/, { ...right, authenticate }],
  [
    'an API key as `keys` (not shown)',
    /"keys" must be a KeyStore, .*; it is a string, not shown here$/,
    { ...right, keys: 'svc_team_1_00' },
  ],
  [
    'null as `authenticate`',
    /"authenticate" must be a function/,
    { store: right.store, authenticate: null, keys: undefined },
  ],
  ...['', 'sv_c', 'svc_', 'é', 7, null, ['svc']].map((keyPrefix): [string, RegExp, unknown] => [
    `${inspect(keyPrefix)} as \`keyPrefix\``,
    /"keyPrefix" must be one or more ASCII letters and digits/,
    { ...right, keyPrefix },
  ]),
  ...[{}, 'memory', null, () => {}].map((limiter): [string, RegExp, unknown] => [
    `${typeof limiter === 'function' ? 'a function' : inspect(limiter)} as \`rateLimiter\``,
    /"rateLimiter" must be an object with a method "consume"/,
    { ...right, rateLimiter: limiter },
  ]),
  ...[Number.NaN, -1, 0, 1.5, Number.POSITIVE_INFINITY, '262144', null].map((bodyLimit): [string, RegExp, unknown] => [
    `${inspect(bodyLimit)} as \`bodyLimit\``,
    /"bodyLimit" must be an integer number of bytes above 0/,
    { ...right, bodyLimit },
  ]),
  // A timer would fire immediately if its delay had more than 31 bits.
  ...['timeLimit', 'bodyTimeLimit', 'pageTimeLimit'].flatMap(name =>
    [Number.NaN, -1, 0, Number.POSITIVE_INFINITY, 2 ** 31, '30000', null].map((limit): [string, RegExp, unknown] => [
      `${inspect(limit)} as \`${name}\``,
      new RegExp(`"${name}" must be a number of milliseconds above 0`),
      { ...right, [name]: limit },
    ]),
  ),
  ['a string as `onError`', /"onError" must be a function/, { ...right, onError: 'console' }],
  ['a string as `onResult`', /"onResult" must be a function/, { ...right, onResult: 'console' }],
  ['undefined instead of options', /^The options must be an object$/, undefined],
  [
    'the unknown option `bodylimit`',
    /^The option "bodylimit" does not exist; there are "store", .*"bodyLimit"/,
    { ...right, bodylimit: 1 },
  ],
  [
    'the unknown option `ratelimitr`',
    /^The option "ratelimitr" does not exist; .*"rateLimiter"/,
    { ...right, ratelimitr: undefined },
  ],
  [
    'the unknown option `__proto__`',
    /^The option "__proto__" does not exist; there are "store", /,
    JSON.parse('{"__proto__":{}}'),
  ],
  [
    'the unknown option `logger`',
    /^The option "logger" does not exist; there are "store", .*"onError"/,
    { ...right, logger: console },
  ],
]

// Every adapter passes its options on; see adapters.test.ts.
test.each(wrong)('createHandler rejects %s, and the message says what to pass', (_, message, options) => {
  const attempt = () => createHandler(options as never)
  expect(attempt).toThrow(TypeError)
  expect(attempt).toThrow(message)
})

test.each(['', 'v1/domains', null, '/:org/domains', '/v1/*', '/v1/{x}', '/a?b', '/ä', '/a/../b', '/a\\b', '/a;b'])(
  'domainsRouter and domainsHandler reject the path %j',
  path => {
    for (const make of [domainsRouter, domainsHandler])
      expect(() => make({ ...right, path } as never)).toThrow(
        /"path" must be a path that begins with "\/" and has no param/,
      )
  },
)

test('an adapter rejects an option that only another adapter has', () => {
  expect(() => createHandler({ ...right, path: '/' } as never)).toThrow(/"path" does not exist/)
})

test('exactly one of `keys` and `authenticate` is required, both at run time and by the types', () => {
  const { store, keys } = right
  // @ts-expect-error: no option identifies the caller
  expect(() => domainsRouter({ store })).toThrow(TypeError)
  // @ts-expect-error: two options identify the caller
  expect(() => domainsRouter({ store, keys, authenticate: () => team1 })).toThrow(TypeError)
})

type WithoutStore<Options> = Options extends unknown ? Omit<Options, 'store'> : never

test('the types allow an application to declare its options without `store`, and to add `store` later', () => {
  const { store, keys } = right
  const mount = (options: WithoutStore<DomainsRouterOptions>) => domainsRouter({ ...options, store })
  for (const options of [{ keys, path: '/names' }, { authenticate: () => team1 }])
    expect(() => mount(options)).not.toThrow()
})
