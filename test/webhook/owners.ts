import type { Random } from '../simulation/random.ts'

export interface OwnerOptions {
  /** Its own names are below `owner-<number>.com`. */
  readonly number: number
  /** A key that may create and delete. */
  readonly key: string
  /** The servers' origins; each attempt goes to a random one. */
  readonly origins: readonly (() => string)[]
  readonly random: Random
}

/** A team that creates and deletes names without a pause: its own, and some that others want too. */
export interface Owner {
  /** Which of its own names are registered now, according to the responses. */
  told(): { readonly present: readonly string[]; readonly absent: readonly string[] }
  created(): number
  deleted(): number
  /** How many attempts had no response, or one that asks for a retry. */
  failed(): number
  /** Resolves when its last call has a final response. */
  stop(): Promise<void>
}

interface Call {
  readonly path: '' | '/delete'
  readonly domains: readonly string[]
}

export function startOwner({ number, key, origins, random }: OwnerOptions): Owner {
  /** Its names, and whether they are registered. */
  const names = new Map<string, boolean>()
  /** An attempt that was cut may still reach the database, so its names are not used again. */
  const settled = new Set<string>()
  const counts = { created: 0, deleted: 0, failed: 0 }
  let isStopped = false
  let next = 0

  /** @returns The status of each result, or `null` if the call must be retried. */
  async function send({ path, domains }: Call): Promise<string[] | null> {
    try {
      const response = await fetch(`${random.pick(origins)()}/v1/domains${path}`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
        body: JSON.stringify({ domains }),
      })
      const body = (await response.json()) as { data?: { results: { status: string; code?: string }[] } }
      if (response.status === 200 && body.data?.results.every(({ code }) => code !== 'internal_error')) {
        return body.data.results.map(({ status }) => status)
      }
    } catch {
      // The server was killed.
    }
    return null
  }

  async function satisfy(call: Call): Promise<void> {
    for (;;) {
      const statuses = await send(call)
      if (statuses) return note(call, statuses)
      counts.failed += 1
      for (const name of call.domains) settled.add(name)
      await new Promise(resolve => setTimeout(resolve, 10))
    }
  }

  function note({ path, domains }: Call, statuses: readonly string[]): void {
    for (const [index, domain] of domains.entries()) {
      if (names.has(domain)) names.set(domain, path === '')
      if (statuses[index] === 'created') counts.created += 1
      if (statuses[index] === 'deleted') counts.deleted += 1
    }
  }

  function chooseCall(): Call {
    const path = random.chance(0.6) ? '' : '/delete'
    const known = [...names.keys()].filter(name => !settled.has(name) && random.chance(0.3)).slice(-3)
    const shared = random.pick(['a.shared.com', 'b.shared.com', '*.shared.com', '*.x.shared.com', 'shared.com'])
    return { path, domains: [...known, invent(), shared] }
  }

  function invent(): string {
    const name = `n${next++}.owner-${number}.com`
    names.set(name, false)
    return name
  }

  async function work(): Promise<void> {
    while (!isStopped) await satisfy(chooseCall())
  }

  const working = work()
  const list = (isPresent: boolean) => [...names].flatMap(([name, value]) => (value === isPresent ? [name] : []))
  return {
    told: () => ({ present: list(true), absent: list(false) }),
    created: () => counts.created,
    deleted: () => counts.deleted,
    failed: () => counts.failed,
    stop() {
      isStopped = true
      return working
    },
  }
}
