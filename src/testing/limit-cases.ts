import { isApiError } from '../errors/api-error.ts'
import { countOfTeam, manyDomains, methodOf, save, submit, submitForCodes } from './calls.ts'
import { checkEqual } from './check.ts'
import type { CaseDefinition } from './store-case.ts'
import type { SuiteStore } from './suite-store.ts'

/** The team that has a limit of five domains. */
const LIMITED = '4'
const LIMIT = 5

/** Registers hostnames for the team that has a limit. Returns the code of each result, or of the call's error. */
async function submitWithinLimit(store: SuiteStore, domains: readonly string[]): Promise<readonly string[]> {
  try {
    return await submitForCodes(store, LIMITED, domains)
  } catch (error) {
    if (!isApiError(error) || error.status !== 403) throw error
    return [error.code]
  }
}

export const limitCases: readonly CaseDefinition[] = [
  {
    id: 'team-count',
    name: 'MUST count the registrations of the calling team, and of no other team, if the request asks for the count',
    async test({ open }) {
      const store = await open()
      await save(store, '2', ['theirs.com'])
      checkEqual('how many registrations the team has at first', await countOfTeam(store, '1'), 0)
      await save(store, '1', [...manyDomains(30), '*.example.com'])
      checkEqual('how many registrations the team has', await countOfTeam(store, '1'), 31)
    },
  },
  {
    id: 'team-count-by-find',
    name: 'MUST count the registrations of the calling team in `find`, not only in `register`',
    needs: ['find'],
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['a.com', 'b.com'])
      await save(store, '2', ['c.com'])
      const question = { teamId: '1', domains: ['c.com'], bases: [], needsCount: true }
      checkEqual('how many registrations the team has', (await methodOf(store, 'find')(question)).teamCount, 2)
    },
  },
  {
    id: 'team-count-is-less-after-a-release',
    name: 'MUST NOT count released registrations',
    needs: ['release'],
    async test({ open }) {
      const store = await open()
      await save(store, '1', ['a.com', 'b.com', 'c.com'])
      checkEqual('how many registrations the team has before', await countOfTeam(store, '1'), 3)
      await methodOf(store, 'release')('1', ['b.com'])
      checkEqual('how many registrations the team has afterwards', await countOfTeam(store, '1'), 2)
    },
  },
  {
    id: 'limit-is-kept',
    name: 'MUST enforce the limit that `findTeam` returns, and save nothing from a call that exceeds it',
    async test({ open }) {
      const store = await open()
      const [first, second, ...others] = manyDomains(LIMIT + 1) as [string, string, ...string[]]
      checkEqual('the codes of two new names', await submitWithinLimit(store, [first, second]), ['created', 'created'])
      const refused = await submitWithinLimit(store, [first, second, ...others])
      checkEqual('the result of a call with four more names', refused, ['domain_limit_reached'])
      checkEqual('how many registrations the team has afterwards', await countOfTeam(store, LIMITED), 2)
      await submit(store, LIMITED, others.slice(1))
      const again = await submitWithinLimit(store, [first, second])
      checkEqual('the codes of registered names when the team has reached its limit', again, ['existing', 'existing'])
    },
  },
  {
    id: 'race-under-a-limit',
    name: 'MUST serialize the calls of a team with a limit, even if they share no registrable domain',
    async test({ open }) {
      const store = await open()
      await submit(store, LIMITED, ['held.com'])
      const answers = await Promise.all(manyDomains(16).map(domain => submitWithinLimit(store, [domain])))
      const created = answers.filter(([code]) => code === 'created')
      checkEqual('how many of 16 simultaneous calls registered their name', created.length, LIMIT - 1)
      checkEqual('how many registrations the team has afterwards', await countOfTeam(store, LIMITED), LIMIT)
    },
  },
]
