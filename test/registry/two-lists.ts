import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Registration } from '../../src/registry/store.ts'

/** Two releases of `tldts`: `codepen.app` is a public suffix in the newer one only. */
type List = 'older' | 'newer'

/** A process with one of the lists, and a store of its own. */
interface Caller {
  register(team: string, ...domains: string[]): Promise<readonly string[]>
  release(team: string, ...domains: string[]): Promise<readonly string[]>
}

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url))

/**
 * Proves that a change of the suffix list changes nothing about what is registered, with a real process for each list.
 *
 * @param module The URL of a module whose `openStore` opens a store with any teams.
 * @param prepare Returns what to pass to it: where an empty database is. Called for each test.
 */
export function describeTwoLists(module: URL, prepare: () => Promise<readonly string[]> | readonly string[]): void {
  let processes: Record<List, ChildProcess>
  beforeAll(async () => {
    processes = { older: start(module, 'older'), newer: start(module, 'newer') }
    await Promise.all(Object.values(processes).map(receive))
  })
  afterAll(async () => {
    for (const child of Object.values(processes)) {
      const ended = once(child, 'exit')
      child.kill('SIGKILL')
      await ended
    }
  })

  async function open(list: List, parameters: readonly string[]): Promise<Caller> {
    const call = (message: object) => {
      processes[list].send(message)
      return receive(processes[list])
    }
    await call({ call: 'open', parameters })
    return {
      register: (team, ...domains) => call({ call: 'register', team, domains }) as Promise<string[]>,
      release: async (team, ...domains) =>
        ((await call({ call: 'release', team, domains })) as Registration[]).map(({ domain }) => domain).sort(),
    }
  }

  /** Two callers of one database, which is empty. */
  async function openBoth(): Promise<Record<List, Caller>> {
    const parameters = await prepare()
    const [older, newer] = await Promise.all([open('older', parameters), open('newer', parameters)])
    return { older, newer }
  }

  describe('what was registered before a change of the suffix list', () => {
    test('is found, conflicts and is released where its base has become a public suffix', async () => {
      const { older, newer } = await openBoth()
      expect(await older.register('1', '*.codepen.app', 'codepen.app')).toEqual(['created', 'created'])
      expect(await newer.register('1', 'shop.codepen.app', '*.codepen.app')).toEqual([
        'wildcard_conflict',
        'public_suffix_domain',
      ])
      expect(await newer.register('2', 'shop.codepen.app', '*.shop.codepen.app')).toEqual([
        'domain_already_licensed',
        'domain_already_licensed',
      ])
      expect(await newer.release('2', '*.codepen.app', 'codepen.app')).toEqual([])
      expect(await newer.release('1', '*.codepen.app', 'codepen.app')).toEqual(['*.codepen.app', 'codepen.app'])
      expect(await newer.register('2', 'shop.codepen.app', '*.a.codepen.app')).toEqual(['created', 'created'])
    })

    test('is found, conflicts and is released where it has become a registrable domain', async () => {
      const { older, newer } = await openBoth()
      expect(await older.register('1', 'shop.codepen.app', 'a.b.codepen.app')).toEqual(['created', 'created'])
      expect(await newer.register('2', 'shop.codepen.app', '*.b.codepen.app')).toEqual([
        'domain_already_licensed',
        'domain_already_licensed',
      ])
      expect(await newer.register('1', 'shop.codepen.app', '*.b.codepen.app')).toEqual([
        'existing',
        'subdomain_conflict',
      ])
      expect(await newer.release('1', 'shop.codepen.app')).toEqual(['shop.codepen.app'])
      expect(await newer.register('2', 'shop.codepen.app')).toEqual(['created'])
    })

    test('is found, conflicts and is released where a public suffix is gone', async () => {
      const { older, newer } = await openBoth()
      expect(await newer.register('1', 'shop.codepen.app', '*.b.codepen.app')).toEqual(['created', 'created'])
      expect(await older.register('2', 'shop.codepen.app', 'a.b.codepen.app', '*.codepen.app')).toEqual(
        Array(3).fill('domain_already_licensed'),
      )
      expect(await older.register('1', 'shop.codepen.app', 'a.b.codepen.app', '*.codepen.app')).toEqual([
        'existing',
        'wildcard_conflict',
        'subdomain_conflict',
      ])
      expect(await older.release('1', 'shop.codepen.app', '*.b.codepen.app')).toEqual([
        '*.b.codepen.app',
        'shop.codepen.app',
      ])
      expect(await older.register('2', '*.codepen.app')).toEqual(['created'])
    })
  })

  test('two processes with different lists register each name once', async () => {
    const { older, newer } = await openBoth()
    for (let round = 0; round < 20; round += 1) {
      const domains = Array.from({ length: 10 }, (_, index) => `n${index}.round${round}.codepen.app`)
      const answers = await Promise.all([older.register('1', ...domains), newer.register('2', ...domains)])
      const created = domains.map((_, index) => answers.map(each => each[index]).sort())
      expect(created).toEqual(domains.map(() => ['created', 'domain_already_licensed']))
    }
  })
}

function start(module: URL, list: List): ChildProcess {
  const execArgv = ['--import', 'tsx', ...(list === 'older' ? ['--import', path('older-list.mjs')] : [])]
  return fork(path('two-lists-process.ts'), [module.href], { execArgv })
}

/** @returns The next message. */
async function receive(child: ChildProcess): Promise<unknown> {
  const received = new AbortController()
  const { signal } = received
  const ended = once(child, 'disconnect', { signal }).then(() => {
    throw new Error('A process ended early')
  })
  try {
    return (await Promise.race([once(child, 'message', { signal }), ended]))[0]
  } finally {
    received.abort()
  }
}
