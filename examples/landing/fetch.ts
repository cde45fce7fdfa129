import { createMemoryStore } from 'domain-registration'
import { domainsHandler } from 'domain-registration/fetch'

const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const authenticate = () => ({ type: 'team', teamId: '1', scopes: ['domains:create', 'domains:read'] }) as const
const operations = ['create', 'preview', 'list'] as const
export default { fetch: domainsHandler({ store, authenticate, operations }) }
