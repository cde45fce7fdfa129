/** The service that `client.ts` calls: Express with PostgreSQL. */
import type { AddressInfo } from 'node:net'
import { createMemoryKeyStore, generateApiKey } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import { createPostgresStore, migrate } from 'domain-registration/postgres'
import express from 'express'
import { Pool } from 'pg'
import { keyContext, team } from './measure.ts'

const database = new Pool(JSON.parse(process.argv[2] as string))
await migrate({ database })
const keys = createMemoryKeyStore()
const { key: apiKey, hash } = await generateApiKey({ type: 'team', id: team.id })
keys.addKey({ hash, type: 'team', ownerId: team.id, scopes: keyContext.scopes })
const store = createPostgresStore({ database, findTeam: () => team })
const server = express()
  .use(domainsRouter({ store, keys }))
  .listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo
    process.send?.({ url: `http://127.0.0.1:${port}/v1/domains`, apiKey })
  })
