import { createMemoryStore } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import express from 'express'

const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active' }] })
const authenticate = () => ({ type: 'team', teamId: '1', scopes: ['domains:create', 'domains:read'] }) as const
const operations = ['create', 'preview', 'list'] as const
express().use(domainsRouter({ store, authenticate, operations })).listen(3000)
