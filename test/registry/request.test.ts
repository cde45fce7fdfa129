import { expect, test } from 'vitest'
import { classifyHostname } from '../../src/index.ts'
import type { Name } from '../../src/registry/name.ts'
import { createRegistrationRequest } from '../../src/registry/request.ts'

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
