/** What the two lists of the element know and do, without a browser: a real service answers in the same process. */
import { expect, test } from 'vitest'
import { AddList } from '../../src/element/add-list.ts'
import { TeamList } from '../../src/element/team-list.ts'
import { english } from '../../src/element/words.ts'
import type { Surroundings } from '../../src/element/work.ts'
import { domainsHandler } from '../../src/http/fetch.ts'
import { type CheckNames, createMemoryStore, registerDomains } from '../../src/index.ts'

const scopes = ['domains:create', 'domains:delete', 'domains:read'] as const
const caller = { type: 'team', teamId: '1', scopes } as const

function open({
  maxDomains,
  operations = ['create', 'preview', 'delete', 'list'] as const,
  checkNames,
}: {
  maxDomains?: number
  checkNames?: CheckNames
  operations?: readonly ('create' | 'preview' | 'delete' | 'list')[]
} = {}) {
  const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active', maxDomains }] })
  const handle = domainsHandler({ store, operations, authenticate: () => caller, checkNames })
  const told: unknown[] = []
  const calls: string[] = []
  const around: Surroundings = {
    callOptions: () => ({
      url: 'https://example.com/v1/domains',
      fetch: async (url, init) => {
        calls.push(`${init?.method} ${new URL(String(url)).pathname}`)
        return handle(new Request(url as URL, init))
      },
    }),
    changed: () => {},
    say: () => {},
    focus: () => {},
    tellFailure: error => {
      told.push(error)
      return true
    },
  }
  const registered: string[] = []
  const adding = new AddList(around, names => registered.push(...names.map(({ domain }) => domain)))
  const team = new TeamList(around, domains => adding.edit(each => each.followDeletion(domains)))
  return { adding, team, store, calls, told, registered, count: () => store.count({ teamId: '1' }) }
}
const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise(resolve => setTimeout(resolve, 5))
}
const names = (count: number) => Array.from({ length: count }, (_, index) => `h${index}.example.com`)

test('a list is checked, and no more names are ready than fit together', async () => {
  const { adding, registered, count } = open({ maxDomains: 96 })
  void adding.add(names(300))
  await until(() => adding.work.kind === undefined && adding.status !== undefined)
  expect([adding.names.count('ready'), adding.names.count('full')]).toEqual([96, 204])
  expect(adding.status?.(english)).toBe('96 names can be registered, your limit leaves no room for 204')
  await adding.register()
  expect(adding.status?.(english)).toBe('Done: 96 names registered, no room for 204.')
  expect([count(), registered.length]).toEqual([96, 96])
})

test.each([true, false])(
  'what fits is registered although each call was checked on its own (preview: %s)',
  async hasPreview => {
    const { adding, count, told } = open({
      maxDomains: 150,
      operations: hasPreview ? ['create', 'preview'] : ['create'],
    })
    void adding.add(names(300))
    await until(() => adding.work.kind === undefined && adding.names.count('unchecked') === 0)
    await adding.register()
    expect([count(), adding.names.count('registered'), adding.names.count('full')]).toEqual([150, 150, 150])
    expect(told).toMatchObject(hasPreview ? [] : [{ code: 'domain_limit_reached' }])
  },
)

test('ticked names that a search hides are not deleted, and the list above follows', async () => {
  const { team, store, count } = open()
  await registerDomains(caller, { domains: ['keep.example.com', 'shop.example.org'] }, store)
  await team.load()
  team.choose(team.entries, true)
  team.type('shop')
  expect(team.chosen.map(({ domain }) => domain)).toEqual(['shop.example.org'])
  await team.delete(team.chosen)
  expect(count()).toBe(1)
  team.type('')
  expect(team.shown.map(({ domain }) => domain)).toEqual(['keep.example.com'])
})

test('letters find a name among more names than a page has', async () => {
  const { team, store } = open()
  const all = [...names(1400), 'shop.bigcustomer.example.net']
  for (let index = 0; index < all.length; index += 100) {
    await registerDomains(caller, { domains: all.slice(index, index + 100).reverse() }, store)
  }
  await team.load()
  expect(team.rest).toBeDefined()
  team.type('bigcust')
  team.search()
  await until(() => !team.isLoading)
  expect(team.shown.map(({ domain }) => domain)).toEqual(['shop.bigcustomer.example.net'])
})

test('names that need a DNS record wait in one card for each record, and are checked again together', async () => {
  const proven = new Set<string>()
  const record = (zone: string) => ({ type: 'TXT', name: `_x.${zone}`, host: '_x', zone, value: `value of ${zone}` })
  const { adding, told } = open({
    checkNames: proposed =>
      proposed.map(({ registrableDomain: zone }) => {
        if (proven.has(zone)) return null
        return { code: 'invalid_domain', reason: 'not_verified', message: `Add it to ${zone}.`, record: record(zone) }
      }),
  })
  const isIdle = () => adding.work.kind === undefined && adding.names.count('unchecked') === 0
  void adding.add([...names(17), 'a.example.org', 'https://b.example.org/'])
  await until(isIdle)
  const status = '0 names can be registered, 1 needs a correction, 18 wait for a DNS record'
  expect(adding.status?.(english)).toBe(status)
  const shown = () => adding.records.map(({ record, count, attempts }) => [record, count, attempts.length])
  expect(shown()).toEqual([
    [record('example.com'), 17, 0],
    [record('example.org'), 1, 0],
  ])

  const [first] = adding.records
  if (!first) throw new Error('There are no records')
  const again = adding.checkRecord(first)
  expect(adding.records.map(({ count }) => count)).toEqual([17, 1])
  await again
  expect(shown().map(([, ...rest]) => rest)).toEqual([
    [17, 1],
    [1, 0],
  ])
  const expected = { at: expect.any(Date), reason: 'not_verified', message: 'Add it to example.com.' }
  expect(adding.records[0]?.attempts).toEqual([expected])

  const stopped = adding.checkRecord(first)
  adding.work.stop()
  await stopped
  expect(shown().map(([, ...rest]) => rest)).toEqual([
    [17, 1],
    [1, 0],
  ])

  proven.add('example.com').add('example.org')
  await adding.checkRecord(first)
  expect(shown()).toEqual([[record('example.org'), 1, 0]])
  expect(adding.names.count('ready')).toBe(17)
  expect(adding.status?.(english)).toBe('The DNS record of example.com was found; 17 names can be registered')
  adding.edit(each => each.remove(({ state }) => state === 'hopeless'))
  expect(adding.names.count('waiting')).toBe(1)
  expect(told).toEqual([])
})

test('a record that lacks a field is not shown, and its name cannot be registered', async () => {
  const { adding } = open()
  void adding.add(['a.example.com'])
  await until(() => adding.names.count('ready') === 1)
  adding.names.recheck(() => true)
  const rejection = { status: 'invalid', input: 'a.example.com', code: 'invalid_domain', reason: 'x', message: 'No.' }
  adding.names.enterPreviews([{ ...rejection, record: { type: 'TXT', name: '_x.a.com' } } as never])
  expect([adding.names.count('hopeless'), adding.records]).toEqual([1, []])
})

test('a quote that is not closed is told until the names are registered, and no name is lost', async () => {
  const { adding, registered } = open()
  expect(await adding.paste('a.example.com,b.example.com\n"c.example.com,d.example.com')).toBe(true)
  expect(adding.notice?.(english)).toMatch(/^Line 2 has a quote that is not closed/)
  await adding.register()
  expect([adding.notice, registered.length]).toEqual([undefined, 4])
})

test('a file that is still being read when the list is cleared adds no names', async () => {
  const { adding, calls } = open()
  const reading = adding.pasteFile(new Blob(['a.example.com\nb.example.com']))
  adding.clear()
  await reading
  expect([adding.names.size, calls.length]).toEqual([0, 0])
})

test('Enter keeps what typing has found while all names are here, and asks nobody', async () => {
  const { team, store, calls } = open()
  await registerDomains(caller, { domains: ['keep.example.com', 'shop.example.org'] }, store)
  await team.load()
  team.type('sho')
  const before = calls.length
  team.search()
  expect(team.shown.map(({ domain }) => domain)).toEqual(['shop.example.org'])
  expect(calls.length).toBe(before)
})

test('while a long list is read, other tasks have their turn, and a cleared list gets no more names', async () => {
  const { adding } = open()
  let turns = 0
  const timer = setInterval(() => {
    turns += 1
  })
  const reading = adding.paste(names(200_000).join('\n'))
  await until(() => turns > 1 && adding.names.size > 0)
  adding.clear()
  await reading
  clearInterval(timer)
  expect([adding.names.size, adding.status]).toEqual([0, undefined])
})
