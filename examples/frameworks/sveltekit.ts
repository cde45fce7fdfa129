// npm install domain-registration, and save this as src/routes/v1/domains/+server.ts
import { createMemoryStore } from 'domain-registration'
import { domainsHandler } from 'domain-registration/fetch'

export const trailingSlash = 'ignore' // otherwise /v1/domains/ is redirected, which many clients do not follow
let handle: ReturnType<typeof createHandle> | undefined

// Created at the first request, because a build loads the module without your secrets.
export const POST = ({ request }: { request: Request }) => {
  handle ??= createHandle()
  return handle(request)
}

function createHandle() {
  const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
  const authenticate = () => ({ type: 'team', teamId: '1', scopes: ['domains:create'] }) as const
  return domainsHandler({ store, authenticate })
}
