import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { generateApiKey } from '../../src/keys/api-key.ts'
import { createPostgresKeyStore, migrate, type PostgresKeyStore } from '../../src/postgres/index.ts'
import { counts, isLong, seed } from '../counts.ts'
import { type Nodes, startNodes } from '../postgres/nodes.ts'
import { openDatabase, type TestServer } from '../postgres/server.ts'
import { createRandom } from '../random.ts'

const random = createRandom(seed)
const schema = 'storm'
const SERVERS = 3
const CALLERS = 60
/** The number of simultaneous calls with each key. */
const TRIES = 12

type Kind = 'valid' | 'unknown' | 'revoked' | 'being revoked'

interface Victim {
  readonly key: string
  state: 'valid' | 'being revoked' | 'revoked'
}

let server: TestServer
let nodes: Nodes
let keys: PostgresKeyStore
async function issue(): Promise<{ key: string; hash: string }> {
  const { key, hash } = await generateApiKey({ type: 'team', id: '1' })
  await keys.addKey({ hash, type: 'team', ownerId: '1', scopes: ['domains:delete'] })
  return { key, hash }
}

async function call(key: string): Promise<number> {
  const response = await fetch(`${random.pick(nodes.all).origin()}/v1/domains/delete`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
    body: JSON.stringify({ domains: ['www.example.com'] }),
  })
  await response.arrayBuffer()
  return response.status
}

const callOften = async (key: string) => new Set(await Promise.all(Array.from({ length: TRIES }, () => call(key))))

describe.runIf(isLong)(`the key store of PostgreSQL${isLong ? '' : ' (only in the long run)'}`, () => {
  beforeAll(async () => {
    server = await openDatabase()
    const pool = server.createPool()
    await migrate({ database: pool, schema })
    keys = createPostgresKeyStore({ database: pool, schema })
    const configs = Array.from({ length: SERVERS }, () => server.config)
    nodes = await startNodes(configs, { schema })
  })
  afterAll(async () => {
    await nodes?.stop()
    await server.stop()
  })

  test('under many simultaneous calls, a key is rejected once it is revoked, and not before', async () => {
    const valid = await Promise.all(Array.from({ length: 5 }, issue))
    const revoked = await Promise.all(Array.from({ length: 5 }, issue))
    for (const { hash } of revoked) await keys.revokeKey(hash)
    let victim: Victim = { ...(await issue()), state: 'valid' }
    const times: Record<Kind, number[]> = { valid: [], unknown: [], revoked: [], 'being revoked': [] }
    const statuses: Record<Kind, Set<number>> = {
      valid: new Set(),
      unknown: new Set(),
      revoked: new Set(),
      'being revoked': new Set(),
    }

    async function callAs(key: string, kindOf: () => Kind): Promise<void> {
      const before = kindOf()
      const start = performance.now()
      const status = await call(key)
      // A call during the revocation may be accepted or rejected.
      const kind = before === 'valid' ? kindOf() : before
      times[kind].push(performance.now() - start)
      statuses[kind === 'revoked' && before === 'valid' ? 'being revoked' : kind].add(status)
    }
    async function callSomehow(): Promise<void> {
      const kind = random.pick(['valid', 'unknown', 'revoked', 'being revoked'] as const)
      if (kind === 'valid') return callAs(random.pick(valid).key, () => 'valid')
      if (kind === 'revoked') return callAs(random.pick(revoked).key, () => 'revoked')
      if (kind === 'unknown') return callAs((await generateApiKey({ type: 'team', id: '1' })).key, () => 'unknown')
      const tried = victim
      return callAs(tried.key, () => tried.state)
    }
    let left = counts.lookups
    async function work(): Promise<void> {
      while (left > 0) {
        left -= 1
        await callSomehow()
      }
    }
    let revocations = 0
    async function revoke(): Promise<void> {
      do {
        const { key, hash } = await issue()
        victim = { key, state: 'valid' }
        expect(await callOften(key)).toEqual(new Set([200]))
        victim.state = 'being revoked'
        await keys.revokeKey(hash)
        victim.state = 'revoked'
        expect(await callOften(key)).toEqual(new Set([401]))
        revocations += 1
      } while (left > 0)
    }
    await Promise.all([revoke(), ...Array.from({ length: CALLERS }, work)])

    const { 'being revoked': ambiguous, ...others } = statuses
    expect(others).toEqual({ valid: new Set([200]), unknown: new Set([401]), revoked: new Set([401]) })
    expect([...ambiguous].filter(status => status !== 200 && status !== 401)).toEqual([])
    console.info({ calls: counts.lookups, revocations, milliseconds: mapValues(times, summarize), SEED: seed })
  })
})

function summarize(times: readonly number[]) {
  const sorted = times.toSorted((one, other) => one - other)
  const at = (share: number) => Math.round(sorted[Math.floor(share * (sorted.length - 1))] ?? 0)
  return { calls: sorted.length, median: at(0.5), p99: at(0.99), most: at(1) }
}

const mapValues = <Value, Other>(record: Record<string, Value>, map: (value: Value) => Other) =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]))
