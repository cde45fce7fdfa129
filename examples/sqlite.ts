import { resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { type Change, generateApiKey, startSynchronizing } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import { createSqliteKeyStore, createSqliteStore } from 'domain-registration/sqlite'
import express from 'express'

// Needs no database server: one process, and a file. The data survives a restart.
const { DATABASE_FILE = 'registrations.db', PORT = '3000' } = process.env
const database = new DatabaseSync(DATABASE_FILE)
console.log(`Registrations and keys are kept in ${resolve(DATABASE_FILE)}`)

const organizations = new Map(Object.entries({ 1: '10', 2: '10', 3: '20' })) // by team ID
const findTeam = (id: string) => {
  const organizationId = organizations.get(id)
  return organizationId ? { id, organizationId, state: 'active' as const } : null
}
const synchronize = (changes: readonly Change[]) => console.log('To be monitored:', changes)
export const store = createSqliteStore({ database, findTeam, synchronize })
startSynchronizing(store)

const keys = createSqliteKeyStore({ database })
async function issueKey(type: 'organization' | 'team', ownerId: string) {
  if ((await keys.listKeys({ type, ownerId })).length > 0) return '<shown when the file was created>'
  const { key, hash } = await generateApiKey({ type, id: ownerId })
  await keys.addKey({ hash, type, ownerId, scopes: ['domains:create'] })
  return key
}
const [organizationKey, teamKey] = [await issueKey('organization', '10'), await issueKey('team', '3')]

export const app = express().use(domainsRouter({ store, keys }))
export const server = app.listen(PORT).on('listening', () => {
  const { port } = server.address() as { port: number }
  console.log(`Organization key: ${organizationKey}\nTeam key:         ${teamKey}\nTry it:
curl http://localhost:${port}/v1/domains -H 'Authorization: Bearer ${organizationKey}' \\
  -H 'Content-Type: application/json' -d '{"team_id":"1","domains":["www.example.com","*.example.org","localhost"]}'`)
})
