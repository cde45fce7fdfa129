import { build } from 'esbuild'
import { beforeAll, describe, expect, test } from 'vitest'
import * as core from '../../src/index.ts'
import { createPostgresStore } from '../../src/postgres/index.ts'
import type { Registration } from '../../src/rules/registration.ts'
import { createSqliteStore } from '../../src/sqlite/index.ts'

export type Library = Pick<typeof core, 'registerDomains'> & {
  readonly createPostgresStore: typeof createPostgresStore
  readonly createSqliteStore: typeof createSqliteStore
}

/** `codepen.app` is a public suffix in the newer list only. */
export const newerLibrary: Library = { ...core, createPostgresStore, createSqliteStore }

/** This library with the suffix list of an older release of `tldts`. */
export async function buildOlderLibrary(): Promise<Library> {
  const exports = ['index', 'postgres/index', 'sqlite/index'].map(file => `export * from './${file}.ts'`).join('\n')
  const { outputFiles } = await build({
    stdin: { contents: exports, resolveDir: new URL('../../src', import.meta.url).pathname },
    alias: { tldts: 'tldts-old' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    write: false,
  })
  const [{ text }] = outputFiles as [(typeof outputFiles)[0]]
  return import(`data:text/javascript,${encodeURIComponent(text)}`)
}

/** Every team is active, and none has a limit. */
export const findTeam = (id: string) => ({ id, organizationId: '1', state: 'active' as const })

/**
 * Tests that existing registrations are unaffected by a change of the suffix list.
 *
 * @param prepare Creates an empty database, and returns a function that opens stores on it, with any teams. Called for
 *   each test.
 */
export function describeTwoLists(prepare: () => Promise<(library: Library) => core.ManagedStore>): void {
  let olderLibrary: Library
  beforeAll(async () => {
    olderLibrary = await buildOlderLibrary()
  })

  /** Two stores on one empty database. */
  async function openBoth() {
    const open = await prepare()
    const [older, newer] = [olderLibrary, newerLibrary].map(library => {
      const store = open(library)
      return {
        async register(teamId: string, ...domains: string[]): Promise<string[]> {
          const keyContext = { type: 'team', teamId, scopes: ['domains:create'] } as const
          const { data } = await library.registerDomains(keyContext, { domains }, store)
          return data.results.map(result => (result.status === 'invalid' ? result.code : result.status))
        },
        async release(teamId: string, ...domains: string[]): Promise<string[]> {
          const released: readonly Registration[] = await store.release(teamId, domains)
          return released.map(({ domain }) => domain).sort()
        },
      }
    })
    return { older, newer } as { older: NonNullable<typeof older>; newer: NonNullable<typeof newer> }
  }

  describe('a name that was registered before a change of the suffix list', () => {
    test('still conflicts and can be released after its registrable domain became a public suffix', async () => {
      const { older, newer } = await openBoth()
      expect(await older.register('1', '*.codepen.app', 'codepen.app')).toEqual(['created', 'created'])
      expect(await newer.register('1', 'shop.codepen.app', '*.codepen.app')).toEqual(['wildcard_conflict', 'existing'])
      expect(await newer.register('1', 'CodePen.app.', 'codepen.app')).toEqual(['existing', 'existing'])
      expect(await newer.register('2', '*.codepen.app', 'codepen.app')).toEqual(Array(2).fill('public_suffix_domain'))
      expect(await newer.register('2', 'shop.codepen.app', '*.shop.codepen.app')).toEqual([
        'domain_already_licensed',
        'domain_already_licensed',
      ])
      expect(await newer.release('2', '*.codepen.app', 'codepen.app')).toEqual([])
      expect(await newer.release('1', '*.codepen.app', 'codepen.app')).toEqual(['*.codepen.app', 'codepen.app'])
      expect(await newer.register('2', 'shop.codepen.app', '*.a.codepen.app')).toEqual(['created', 'created'])
    })

    test('still conflicts and can be released after the name itself became a registrable domain', async () => {
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

    test('still conflicts and can be released after its public suffix was removed from the list', async () => {
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

  test('two servers that have different suffix lists register each name only once', async () => {
    const { older, newer } = await openBoth()
    for (let round = 0; round < 20; round += 1) {
      const domains = Array.from({ length: 10 }, (_, index) => `n${index}.round${round}.codepen.app`)
      const answers = await Promise.all([older.register('1', ...domains), newer.register('2', ...domains)])
      const created = domains.map((_, index) => answers.map(each => each[index]).sort())
      expect(created).toEqual(domains.map(() => ['created', 'domain_already_licensed']))
    }
  })
}
