import { createMemoryKeyStore, createMemoryStore, generateApiKey } from 'domain-registration'
import { domainsRouter } from 'domain-registration/express'
import express from 'express'

// Represents your monitor, which gets every registration, and may be unavailable for a while.
export const monitor = { isOnline: true, watched: new Set<string>() }

export const store = createMemoryStore({
  teams: [
    { id: '1', organizationId: '10', state: 'active' },
    { id: '2', organizationId: '10', state: 'active' },
    { id: '3', organizationId: '20', state: 'active' },
  ],
  synchronize(changes) {
    if (!monitor.isOnline) throw new Error('The monitor is offline')
    for (const { kind, domainId } of changes) {
      if (kind === 'registered') monitor.watched.add(domainId)
      else monitor.watched.delete(domainId)
    }
  },
})

export const keys = createMemoryKeyStore()
export async function issueKey(type: 'organization' | 'team', id: string, scopes = ['domains:create']) {
  const { key, hash } = await generateApiKey({ type, id })
  await keys.addKey({ hash, type, ownerId: id, scopes })
  return key
}
export const organizationKey = await issueKey('organization', '10') // for teams 1 and 2
export const teamKey = await issueKey('team', '3') // for team 3

export const app = express()
app.use(domainsRouter({ store, keys, operations: ['create', 'preview', 'delete', 'list', 'export'] }))
export const server = app.listen(process.env.PORT ?? 3000).on('listening', () => {
  const { port } = server.address() as { port: number }
  console.log(`Organization key: ${organizationKey}\nTeam key:         ${teamKey}\nTry it:
curl http://localhost:${port}/v1/domains -H 'Authorization: Bearer ${organizationKey}' \\
  -H 'Content-Type: application/json' -d '{"team_id":"1","domains":["www.example.com","*.example.org","localhost"]}'`)
})
