/**
 * The service that runs in the page: the memory store and the fetch handler of the package, two teams, and a monitor.
 */
import { createMemoryKeyStore, createMemoryStore, generateApiKey, MonitorUnavailableError } from 'domain-registration'
import { domainsHandler } from 'domain-registration/fetch'

const origin = 'https://api.example.com'
const operations = ['create', 'preview', 'delete', 'list']
export const teams = ['1', '2']

/**
 * Starts a service without registrations.
 *
 * @returns Functions that change the service, and `look`, which reads its state. `show` writes a
 *   response as it would be sent over HTTP.
 */
export async function createService() {
  const watched = new Map()
  const monitor = { isOn: true, refused: '' }

  /** Accepts either all changes of a push or none, like a monitor with a database. */
  function synchronize(changes) {
    if (!monitor.isOn) throw new MonitorUnavailableError('The monitor is off')
    const refused = changes.find(({ domain }) => domain === monitor.refused)
    if (refused) throw new Error(`The monitor refuses ${refused.domain}`)
    for (const { kind, domainId, domain } of changes) {
      if (kind === 'released') watched.delete(domainId)
      else watched.set(domainId, domain)
    }
  }

  const store = createMemoryStore({
    teams: teams.map(id => ({ id, organizationId: '10', state: 'active' })),
    synchronize,
    onError() {},
  })
  const keys = createMemoryKeyStore()
  const apiKeys = new Map()
  for (const id of teams) {
    const { key, hash } = await generateApiKey({ type: 'team', id })
    keys.addKey({ hash, type: 'team', ownerId: id, scopes: ['domains:create', 'domains:delete', 'domains:read'] })
    apiKeys.set(id, key)
  }
  const handle = domainsHandler({ store, keys, operations, onError() {} })

  return {
    /** Sends a call with the key of a team, and returns the response, and the request as it would be sent over HTTP. */
    async call(team, path, { method, body }) {
      const headers = { Authorization: `Bearer ${apiKeys.get(team)}`, 'Content-Type': 'application/json' }
      const response = await handle(new Request(origin + path, { method, headers, body }))
      const request = body && showMessage(`POST ${path} HTTP/1.1`, Object.entries(headers), body)
      return { request, response, curl: body && toCurl(origin + path, headers, body) }
    },
    show: async response => showMessage(`HTTP/1.1 ${response.status}`, response.headers, await response.text()),
    setMonitor: isOn => {
      monitor.isOn = isOn
    },
    refuse: domain => {
      monitor.refused = domain
    },
    async sweep() {
      await store.retryPending()
      await store.synchronizePending()
    },
    async look() {
      return {
        held: new Map(await Promise.all(teams.map(async id => [id, await store.list({ teamId: id })]))),
        watched: [...watched.values()].sort(),
        pending: await store.listPending(),
      }
    },
  }
}

function showMessage(start, headers, body) {
  const fields = [...headers].map(([name, value]) => `${name}: ${value}`)
  return [start, ...fields, '', JSON.stringify(JSON.parse(body), null, 2)].join('\n')
}

const quote = text => `'${text.replaceAll("'", "'\\''")}'`

function toCurl(to, headers, body) {
  const fields = Object.entries(headers).map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`)
  return [`curl ${to}`, ...fields, `-d ${quote(body)}`].join(' \\\n  ')
}
