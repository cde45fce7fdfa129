import { createMemoryStore } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import express from 'express'

const store = createMemoryStore({
  teams: [{ id: '1', organizationId: '10', state: 'active' }],
})
const router = domainsRouter({
  store,
  operations: ['create', 'preview', 'list'],
  authenticate: () => ({
    type: 'team',
    teamId: '1',
    scopes: ['domains:create', 'domains:read'],
  }),
})
express().use(router).listen(3000)
