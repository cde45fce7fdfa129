import type { Registration } from '../../src/rules/registration.ts'
import type { DomainStore } from '../../src/store/contract.ts'
import { InvalidCursorError } from '../../src/store/contract.ts'
import { toTestRegistration } from '../../src/testing/calls.ts'

const createdAt = new Date('2026-01-02T03:04:05.678Z')

export const toDomainId = (number: number): string => `01a1fdc4-24dc-7291-9bdf-${number.toString(16).padStart(12, '0')}`

/** A domain of the longest names. With it, a quarter of the rows fills the buffers of a connection. */
export const longDomain = `${`${'a'.repeat(59)}.`.repeat(4)}com`

/** A store that creates each page when it is requested, so its own memory does not grow. */
export function createGeneratedStore(count: number, domain = 'example.com') {
  const seen = { pages: 0 }
  const toRegistration = (number: number): Registration =>
    toTestRegistration(`n${number}.${domain}`, { domainId: toDomainId(number), createdAt })
  const store: DomainStore = {
    findTeam: id => ({ id, organizationId: '10', state: 'active' }),
    register: () => Promise.reject(new Error('This store only lists')),
    async list({ after, limit = 1000 } = {}) {
      seen.pages += 1
      if (after !== undefined && after.length !== 36) throw new InvalidCursorError()
      const first = after === undefined ? 0 : Number.parseInt(after.slice(24), 16) + 1
      return Array.from({ length: Math.max(0, Math.min(limit, count - first)) }, (_, index) =>
        toRegistration(first + index),
      )
    },
  }
  return { store, seen }
}
