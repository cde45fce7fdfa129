import type { Name } from '../rules/name.ts'
import { findDomains, lookUp, save, submitForCodes, toDomains } from './calls.ts'
import { checkEqual } from './check.ts'
import type { CaseDefinition } from './store-case.ts'

/** Labels that a query, a path or a program could misread as its own syntax. A store must treat such labels as data. */
const fragments = [
  "o'brien",
  'a"b',
  'a`b',
  "'; DROP TABLE registrations; --",
  "' OR '1'='1",
  '$1',
  ':name',
  '?',
  '@p0',
  '{"$ne":null}',
  '[a-z]',
  'a\\',
  "a\\'b",
  '{a,b}',
  '(null)',
  'null',
  'a\tb\nc',
  'a/b',
]

/**
 * Properties that every JavaScript object inherits. A store that keeps names as properties of an object would find
 * these names although they are not registered.
 */
const inherited = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf']

const longest = (label: string) => `${label}.${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(57)}.com`

export const hostileTextCases: readonly CaseDefinition[] = [
  {
    id: 'text-is-data',
    name: 'MUST treat quotes, placeholders and parts of queries in a string as ordinary characters',
    async test({ open }) {
      const store = await open()
      const domains = fragments.map(fragment => `${fragment}.example.com`)
      checkEqual('the saved registrations', toDomains(await save(store, '1', domains)), domains)
      checkEqual('the registrations found', await findDomains(store, '2', domains), domains)
    },
  },
  {
    id: 'text-is-no-pattern',
    name: 'MUST NOT treat %, _, ? or a backslash in a string as a pattern',
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['x.abc.example.com', 'y.abc.example.com', 'abc.example.com'])
      const patterns = ['a_c', '%', 'a%', 'a?c', '[a]bc', '.*', 'a\\bc'].map(label => `${label}.example.com`)
      const { registrations, below } = await lookUp(store, '1', patterns, patterns)
      checkEqual('the registrations found', toDomains(registrations), [])
      checkEqual(
        'the names below the bases',
        below.map(({ ownCount }) => ownCount),
        patterns.map(() => 0),
      )
      const odd = ['x.a_c.example.com', 'x.%.example.com', 'x.a\\bc.example.com']
      await save(store, '1', odd)
      const again = await lookUp(store, '1', odd, ['a\\bc.example.com', 'a_c.example.com'])
      checkEqual('the odd names that were found', toDomains(again.registrations), odd)
      checkEqual(
        'the names below the odd bases',
        again.below.map(({ ownDomains }) => ownDomains),
        [['x.a\\bc.example.com'], ['x.a_c.example.com']],
      )
    },
  },
  {
    id: 'names-of-object-fields',
    name: 'MUST treat names such as __proto__ and constructor like any other',
    async test({ open }) {
      const store = await open()
      const names: Name[] = inherited.map(domain => ({ domain, registrableDomain: domain }))
      checkEqual('the registrations found before', await findDomains(store, '1', inherited, inherited), [])
      checkEqual('the saved registrations', toDomains(await save(store, '1', names)), inherited)
      checkEqual('the registrations found afterwards', await findDomains(store, '1', inherited), inherited)
      const hostnames = ['constructor.com', 'tostring.org', 'hasownproperty.net', 'proto.constructor.com']
      checkEqual(
        'the codes of hostnames with such labels',
        await submitForCodes(store, '1', hostnames),
        hostnames.map(() => 'created'),
      )
    },
  },
  {
    id: 'longest-names',
    name: 'MUST save names of the maximum length, and distinguish them to the last character',
    async test({ open }) {
      const store = await open()
      const label = 'd'.repeat(63)
      const name = longest(label)
      const alike = [
        longest(`${label.slice(1)}e`),
        longest(`e${label.slice(1)}`),
        longest(label.slice(1)),
        name.replace(/com$/, 'net'),
      ]
      checkEqual('the length of the name', name.length, 253)
      checkEqual(
        'the codes of the results',
        await submitForCodes(store, '1', [name, ...alike]),
        Array(5).fill('created'),
      )
      const wildcard = `*.${name}`
      const { registrations, below } = await lookUp(store, '1', [name, wildcard, ...alike], [name])
      checkEqual('the registrations found', toDomains(registrations), [name, ...alike])
      checkEqual('how many names are below the longest one', below[0]?.ownCount, 0)
    },
  },
  {
    id: 'international-names',
    name: 'MUST register international names as A-labels',
    async test({ open }) {
      const store = await open()
      const hostnames = ['bücher.example.com', 'xn--bcher-kva.example.com', '*.例え.jp', 'a.xn--r8jz45g.jp']
      checkEqual('the codes of the results', await submitForCodes(store, '1', hostnames), [
        'created',
        'existing',
        'created',
        'wildcard_conflict',
      ])
      const asked = ['xn--bcher-kva.example.com', 'bücher.example.com', '*.xn--r8jz45g.jp']
      checkEqual('the registrations found', await findDomains(store, '2', asked), [asked[0], asked[2]])
    },
  },
]
