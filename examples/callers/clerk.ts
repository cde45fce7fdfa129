// npm install domain-registration express @clerk/express; needs an account of Clerk
import { clerkMiddleware, getAuth } from '@clerk/express'
import { ApiError, createMemoryStore } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import express from 'express'

const store = createMemoryStore({ teams: [{ id: 'org_2h8VnQ0kBzTgWJ4mXyLr', organizationId: '10', state: 'active' }] })
const app = express()
app.use(
  clerkMiddleware(),
  domainsRouter({
    store,
    authenticate({ raw }) {
      const { orgId } = getAuth(raw)
      if (!orgId) throw new ApiError('unauthorized', 'Log in, and choose an organization.')
      return { type: 'team', teamId: orgId, scopes: ['domains:create'] }
    },
  }),
)
app.listen(process.env.PORT ?? 3000)
