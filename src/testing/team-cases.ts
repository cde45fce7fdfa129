import type { Team } from '../rules/registration.ts'
import { attempt, lookUp } from './calls.ts'
import { checkEqual } from './check.ts'
import type { CaseDefinition } from './store-case.ts'

/** An ID with more digits than any numeric type holds. */
const VAST_ID = '9'.repeat(40)
/** 2 to the power of 53. As doubles, this number and the next integer are equal. */
const LARGE_ID = '9007199254740992'

/** Organization 10 has the teams 1, 2, 4 and 9. Team 9 is suspended. All other teams belong to organization 20. */
export const teams: readonly Team[] = [
  { id: '1', organizationId: '10', state: 'active' },
  { id: '2', organizationId: '10', state: 'active' },
  { id: '4', organizationId: '10', state: 'active', maxDomains: 5 },
  { id: '9', organizationId: '10', state: 'suspended' },
  { id: '3', organizationId: '20', state: 'active' },
  { id: LARGE_ID, organizationId: '20', state: 'active' },
  { id: VAST_ID, organizationId: '20', state: 'active' },
]

/** IDs that a store would confuse with `1` or {@link LARGE_ID} if it treated IDs as numbers. */
const mistakableIds = ['01', '4294967297', '18446744073709551617', '9007199254740993']

export const teamCases: readonly CaseDefinition[] = [
  {
    id: 'finds-a-team',
    name: 'MUST find a team, with its organization and its state',
    async test({ open }) {
      const store = await open()
      for (const team of teams.filter(({ maxDomains }) => !maxDomains))
        checkEqual(`findTeam('${team.id}')`, await store.findTeam(team.id), team)
    },
  },
  {
    id: 'unknown-team-is-null',
    name: 'MUST return null for an unknown team, even if its ID equals a known ID when both are read as numbers',
    async test({ open }) {
      const store = await open()
      for (const id of ['77', '10', '20', '0', ...mistakableIds, '8'.repeat(40), '1'.repeat(1000)]) {
        checkEqual(`findTeam('${id.slice(0, 60)}')`, await store.findTeam(id), null)
      }
    },
  },
  {
    id: 'teams-with-long-ids-are-told-apart',
    name: 'MUST distinguish teams even if their IDs are too long for any numeric type',
    async test({ open }) {
      const store = await open()
      for (const id of [LARGE_ID, VAST_ID]) checkEqual(`findTeam('${id}')`, (await store.findTeam(id))?.id, id)
      const { saved } = await attempt(store, LARGE_ID, ['example.com'])
      checkEqual('the team of the registration', saved[0]?.teamId, LARGE_ID)
      await attempt(store, VAST_ID, ['example.org'])
      const { registrations } = await lookUp(store, VAST_ID, ['example.com', 'example.org'])
      checkEqual(
        'the teams of the registrations found',
        registrations.map(({ teamId }) => teamId),
        [LARGE_ID, VAST_ID],
      )
      const { codes } = await attempt(store, LARGE_ID, ['example.com', 'example.org'])
      checkEqual('the codes of one name of each team', codes, ['existing', 'domain_already_licensed'])
    },
  },
]
