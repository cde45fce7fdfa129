import { expect, test } from 'vitest'
import { classifyHostname } from '../../src/index.ts'
import type { Name } from '../../src/registry/name.ts'
import { createRegistrationRequest } from '../../src/registry/request.ts'
import type { Registration } from '../../src/registry/store.ts'

const toName = (domain: string) => classifyHostname(domain) as Name & { valid: true }

const prefixes = ['', '*.', 'www.', '*.www.', 'b.www.', 'a-longer-label.']
const pairs = prefixes.flatMap(one => prefixes.map(other => [one, other] as const))

test.each(['t.co', 'a.com', 'ab.de', 'abc.de', 'abc.com', 'a-long-name.co.uk'])(
  'two names of %s that stand apart in a call make one lock, and each look-up is made once',
  registrableDomain => {
    for (const [one, other] of pairs) {
      const submitted = [one + registrableDomain, 'www.example.org', other + registrableDomain].map(toName)
      const { registrableDomains, domains } = createRegistrationRequest('1', submitted, 1000)
      expect(registrableDomains).toEqual([registrableDomain, 'example.org'].sort())
      expect(new Set(domains).size).toBe(domains.length)
    }
  },
)

const registered = { ...toName('a.com'), domainId: '1', teamId: '1', synchronized: true }

test('decide judges findings again that the store has changed in place', () => {
  const { decide } = createRegistrationRequest('1', [toName('a.com')], 1000)
  const found = { registrations: [] as Registration[], below: [] }
  expect(decide(found)).toEqual([toName('a.com')])
  found.registrations.push(registered)
  expect(decide(found)).toEqual([])
})

test('a store that does not say what is below each base is told so', () => {
  const names = [toName('*.a.com')]
  const { decide, bases } = createRegistrationRequest('1', names, 1000)
  expect(bases).toEqual(['a.com'])
  expect(() => decide({ registrations: [], below: [] })).toThrow('did not say what is below each of the bases')
})
