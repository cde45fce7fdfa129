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
      const { registrableDomains, names } = createRegistrationRequest('1', submitted)
      expect(registrableDomains).toEqual([registrableDomain, 'example.org'].sort())
      expect(new Set(names.map(({ domain }) => domain)).size).toBe(names.length)
    }
  },
)

const registered = { ...toName('a.com'), domainId: '1', teamId: '1', synchronized: true }

test('decide judges findings again that the store has changed in place', () => {
  const { decide } = createRegistrationRequest('1', [toName('a.com')])
  const found = { registrations: [] as Registration[], below: [] }
  expect(decide(found)).toEqual([toName('a.com')])
  found.registrations.push(registered)
  expect(decide(found)).toEqual([])
})

test('names are judged as they were decided, though what was saved stands among the findings by then', () => {
  const { decide, judge } = createRegistrationRequest('1', [toName('a.com')])
  const found = { registrations: [] as Registration[], below: [] }
  decide(found)
  found.registrations.push(registered)
  expect(judge(found)).toEqual([{ status: 'created' }])
  expect(judge({ ...found })).toEqual([{ status: 'existing' }])
})
