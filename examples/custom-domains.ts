/**
 * Custom domains: customers serve your application from hostnames of their own. A team proves a name by a DNS record,
 * the platform in front of you gets the name, and the `Host` header of a request leads to the team.
 *
 * The platform has the API of Cloudflare for SaaS:
 * `PLATFORM_URL=https://api.cloudflare.com/client/v4/zones/<your zone>`.
 */
import {
  ApiError,
  type Change,
  type CheckNames,
  createMemoryStore,
  createMemoryWaitingStore,
  createOwnerLookup,
  eachRegistration,
  findOwners,
  MonitorUnavailableError,
  startRetrying,
  startSynchronizing,
} from 'domain-registration'
import { createDnsVerification } from 'domain-registration/dns-verification'
import { domainsRouter } from 'domain-registration/express'
import express from 'express'

const { PLATFORM_URL, PLATFORM_TOKEN, VERIFICATION_SECRET: secret, RESOLVER } = process.env
const { PORT = '3000', LOOKUP_PORT = '3001' } = process.env
const interval = Number(process.env.INTERVAL ?? 10_000)
if (!PLATFORM_URL || !secret) throw new Error('Set PLATFORM_URL, PLATFORM_TOKEN and VERIFICATION_SECRET')

/** What a customer sees of a registered name. */
type State = { readonly status: 'pending' | 'active' | 'error'; readonly message?: string }
/** By name. Stands for a table of your own. */
const states = new Map<string, State>()
/** Since when each name has had its status, and when to ask the platform again. */
const checks = new Map<string, { readonly status: string; readonly since: number; readonly due: number }>()

/** Brings the platform and the states to what the registry says now, so a change may come twice, or late. */
async function follow(domain: string): Promise<void> {
  if (await isRegistered(domain)) {
    const state = await add(domain)
    states.set(domain, state)
    schedule(domain, state.status)
  } else {
    await remove(domain)
    states.delete(domain)
    checks.delete(domain)
    // Registered again in the meantime, by a call that still found the name at the platform.
    if (await isRegistered(domain)) await follow(domain)
  }
}

let pushes = 0

async function synchronize(changes: readonly Change[]): Promise<void> {
  owners.forget(changes)
  pushes += 1
  try {
    await Promise.all(changes.map(({ domain }) => follow(domain)))
  } finally {
    pushes -= 1
  }
}

const store = createMemoryStore({
  teams: ['1', '2'].map(id => ({ id, organizationId: '10', state: 'active' })),
  synchronize,
  batchSize: 10, // calls of the platform at once
})
const owners = createOwnerLookup(store)
const isRegistered = async (domain: string) => (await findOwners(store, [domain]))[0]?.registration?.domain === domain

// The platform.

interface PlatformHostname {
  readonly id: string
  readonly hostname: string
  readonly status: string
  readonly verification_errors?: readonly string[]
  readonly ssl: { readonly status: string; readonly validation_errors?: readonly { readonly message: string }[] }
}

/** Adds a name, unless the platform has it. */
async function add(domain: string): Promise<State> {
  const known = await find(domain)
  const ssl = { method: 'http', type: 'dv' }
  // The platform gives up a name that pointed elsewhere, until it is told to look again.
  if (known?.status === 'moved') await callPlatform('PATCH', `/${known.id}`, { ssl })
  if (known) return toState(known)
  const { status, result, errors } = await callPlatform<PlatformHostname>('POST', '', { hostname: domain, ssl })
  if (status === 400) return { status: 'error', message: errors[0]?.message ?? 'The platform rejects this name.' }
  if (status === 409) return { status: 'pending' } // added by another push a moment ago
  return toState(result)
}

async function remove(domain: string): Promise<void> {
  const known = await find(domain)
  if (known) await callPlatform('DELETE', `/${known.id}`)
}

async function find(domain: string): Promise<PlatformHostname | undefined> {
  const { result } = await callPlatform<readonly PlatformHostname[]>('GET', `?hostname=${domain}`)
  return result.find(({ hostname }) => hostname === domain)
}

function toState({ status, verification_errors = [], ssl }: PlatformHostname): State {
  if (status === 'active' && ssl.status === 'active') return { status: 'active' }
  const hasFailed = /blocked|timed_out|expired/.test(`${status} ${ssl.status}`)
  // While it is pending, this says what the customer has not done yet, such as pointing the name at the platform.
  const [message] = [...verification_errors, ...(ssl.validation_errors ?? []).map(({ message }) => message)]
  return { status: hasFailed ? 'error' : 'pending', ...(message !== undefined && { message }) }
}

interface PlatformResponse<Result> {
  readonly status: number
  readonly result: Result
  readonly errors: readonly { readonly message: string }[]
}

/** @throws {MonitorUnavailableError} unless the response is about this name: then its change is pushed again later. */
async function callPlatform<Result>(method: string, path: string, body?: object): Promise<PlatformResponse<Result>> {
  const response = await fetch(`${PLATFORM_URL}/custom_hostnames${path}`, {
    method,
    headers: { Authorization: `Bearer ${PLATFORM_TOKEN}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(10_000),
  }).catch(cause => {
    throw new MonitorUnavailableError('The platform cannot be reached', { cause })
  })
  const { status, headers } = response
  const isAnswer = response.ok || status === 409 || (method === 'POST' ? status === 400 : status === 404)
  if (!isAnswer) {
    const retryAfter = 1000 * Number(headers.get('Retry-After')) || undefined
    throw new MonitorUnavailableError(`The platform responded with ${status}`, { retryAfter })
  }
  return { status, ...((await response.json()) as Omit<PlatformResponse<Result>, 'status'>) }
}

// Your application, behind the platform.

const verification = createDnsVerification({
  label: '_example-challenge',
  secret,
  ...(RESOLVER ? { servers: [RESOLVER] } : { asksZoneServers: true }),
})

/** Wildcards are not offered: a certificate for one needs a record in the customer's DNS for each renewal. */
const checkNames: CheckNames = async (names, context) => {
  const refusals = await verification.checkNames(names, context)
  const message = 'Register each hostname by itself: wildcards are not offered.'
  const refusal = { code: 'invalid_domain', reason: 'no_wildcards', message } as const
  return names.map(({ kind }, index) => (kind === 'wildcard' ? refusal : (refusals[index] ?? null)))
}

/** Names whose record is missing wait here. Stands for a table, as the store does. */
const waiting = createMemoryWaitingStore()

/** The session of the customer's page. A real one asks for a password. */
function findTeam(cookie = ''): string {
  const [, teamId] = /(?:^|; )team=(\d+)/.exec(cookie) ?? []
  if (teamId === undefined) throw new ApiError('unauthorized', 'Log in first.')
  return teamId
}

const app = express()
app.use(
  domainsRouter({
    store,
    checkNames,
    waiting,
    operations: ['create', 'preview', 'delete', 'list', 'waiting'],
    authenticate: ({ raw }) => ({
      type: 'team',
      teamId: findTeam(raw.headers.cookie),
      scopes: ['domains:create', 'domains:delete', 'domains:read'],
    }),
  }),
)

/** What the page shows beside each registered name. */
app.get('/states', async ({ headers }, response) => {
  const own: Record<string, State> = {}
  for await (const { domain } of eachRegistration(store, { teamId: findTeam(headers.cookie) }))
    own[domain] = states.get(domain) ?? { status: 'pending' }
  response.json(own)
})

/** Everything else is the site of the team whose hostname it is. */
app.use(async ({ headers }, response) => {
  const registration = await owners.find(headers.host ?? '')
  if (registration) response.send(`The site of team ${registration.teamId}\n`)
  else response.status(404).send('Nobody has registered this hostname.\n')
})

// For your own proxy in place of a platform, on a port that only the proxy reaches.

const lookups = express()

/** Caddy: may it get a certificate for this host? Anybody can make hosts up, so most answers come from memory. */
lookups.get('/ask', async ({ query }, response) => {
  const host = String(query.domain)
  const registration = await owners.find(host)
  response.sendStatus(registration?.domain === host ? 200 : 404)
})

/** nginx (`auth_request`) and Traefik (`forwardAuth`): whose host is it? nginx knows only 2xx, 401 and 403. */
lookups.get('/owner', async ({ headers }, response) => {
  const registration = await owners.find(String(headers['x-forwarded-host']))
  if (registration) response.set('X-Team-Id', registration.teamId).sendStatus(204)
  else response.sendStatus(403)
})

startSynchronizing(store, { interval })
startRetrying({ store, waiting, checkNames, interval })

/**
 * The platform does not call back, so ask it for the states. A name that is not active is asked for after a tenth of
 * the time for which it has not been, at most after four hours; an active one once a day.
 */
function schedule(domain: string, status: string): void {
  const now = Date.now()
  const before = checks.get(domain)
  const since = before?.status === status ? before.since : now
  const hour = 3600 * 1000
  const pause = status === 'active' ? 24 * hour : Math.min(Math.max(interval, (now - since) / 10), 4 * hour)
  checks.set(domain, { status, since, due: now + pause })
}

/** Cloudflare allows 1,200 calls in 300 seconds, and pushes need most of them. */
const MOST_CHECKS = 10

async function check(): Promise<void> {
  const due = [...checks].filter(([, { due }]) => due <= Date.now()).sort(([, a], [, b]) => a.due - b.due)
  try {
    for (const [domain, { status }] of pushes > 0 ? [] : due.slice(0, MOST_CHECKS)) {
      // A name that fails is not the first one of the next round too.
      schedule(domain, status)
      await follow(domain)
    }
  } catch (error) {
    console.error(String(error))
  }
  setTimeout(check, interval)
}
check()

const toPort = (server: { address(): unknown }) => (server.address() as { port: number }).port
const lookupServer = lookups.listen(Number(LOOKUP_PORT), '127.0.0.1').on('listening', () => {
  const server = app.listen(Number(PORT), '127.0.0.1').on('listening', () => {
    console.log(`The application listens on port ${toPort(server)}, the lookups on port ${toPort(lookupServer)}`)
  })
})
