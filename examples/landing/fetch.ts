import { createMemoryStore } from 'domain-registration'
import { domainsHandler } from 'domain-registration/fetch'

const store = createMemoryStore({
  teams: [{ id: '1', organizationId: '10', state: 'active' }],
})
const handle = domainsHandler({
  store,
  operations: ['create', 'preview', 'list'],
  authenticate: () => ({
    type: 'team',
    teamId: '1',
    scopes: ['domains:create', 'domains:read'],
  }),
})
export default { fetch: handle }
