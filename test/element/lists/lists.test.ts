/** What the two lists of the element know and do, without a browser: a real service answers in the same process. */
import { expect, test } from 'vitest'
import { AddList } from '../../../src/element/lists/add-list.ts'
import { TeamList } from '../../../src/element/lists/team-list.ts'
import type { Surroundings } from '../../../src/element/lists/work.ts'
import { english } from '../../../src/element/words.ts'
import { domainsHandler } from '../../../src/http/fetch.ts'
import {
  type CheckNames,
  createMemoryStore,
  createMemoryWaitingStore,
  deleteDomains,
  registerDomains,
  type WaitingStore,
} from '../../../src/index.ts'

const scopes = ['domains:create', 'domains:delete', 'domains:read'] as const
const caller = { type: 'team', teamId: '1', scopes } as const

function open({
  maxDomains,
  checkNames,
  waiting,
  operations = ['create', 'preview', 'delete', 'list', ...(waiting ? (['waiting'] as const) : [])] as const,
}: {
  maxDomains?: number
  checkNames?: CheckNames
  waiting?: WaitingStore
  operations?: readonly ('create' | 'preview' | 'delete' | 'list' | 'waiting')[]
} = {}) {
  const store = createMemoryStore({ teams: [{ id: '1', organizationId: '10', state: 'active', maxDomains }] })
  const handle = domainsHandler({ store, operations, authenticate: () => caller, checkNames, waiting })
  const told: unknown[] = []
  const calls: string[] = []
  const said: string[] = []
  let changed = 0
  let isFailing = false
  const around: Surroundings = {
    callOptions: () => ({
      url: 'https://example.com/v1/domains',
      fetch: async (url, init) => {
        if (isFailing) throw new TypeError('The network is away.')
        calls.push(`${init?.method} ${new URL(String(url)).pathname}`)
        return handle(new Request(url as URL, init))
      },
    }),
    changed: isProgress => {
      if (!isProgress) changed += 1
    },
    say: sentence => said.push(sentence(english)),
    focus: () => {},
    tellFailure: error => {
      told.push(error)
      return true
    },
  }
  const registered: string[] = []
  const onRegistered = (names: readonly { readonly domain: string }[]) => {
    registered.push(...names.map(({ domain }) => domain))
    if (waiting) void team.load()
  }
  const adding = new AddList(around, onRegistered)
  const team = new TeamList(around, {
    registered: onRegistered,
    deleted: domains => adding.edit(each => each.followDeletion(domains)),
  })
  const seen = { calls, told, said, registered, changes: () => changed, count: () => store.count({ teamId: '1' }) }
  const fail = (fails: boolean) => {
    isFailing = fails
  }
  return { adding, team, store, waiting, fail, ...seen }
}
const until = async (holds: () => boolean) => {
  while (!holds()) await new Promise(resolve => setTimeout(resolve, 5))
}
const names = (count: number) => Array.from({ length: count }, (_, index) => `h${index}.example.com`)

test('the result of a check counts the rows that are left, as wrong ones are removed', async () => {
  const { adding, said } = open()
  await adding.paste('a.example.com\nlocalhost\na.example.com\nhttps://b.example.com/x')
  const result = '1 name can be registered, 1 needs a correction, 1 cannot be registered, 1 repeated row left out'
  expect([said.at(-1), adding.status?.(english)]).toEqual([result, result])
  adding.edit(each => each.remove(({ state }) => state === 'hopeless'))
  expect(adding.status?.(english)).toBe('1 name can be registered, 1 needs a correction, 1 repeated row left out')
  expect(said.at(-1)).toBe(result)
})

test('a screen reader is told that a text is read only if that takes a while', async () => {
  for (const [count, sentences] of [
    [4000, 0],
    [100_000, 1],
  ] as const) {
    const { adding, said } = open({ operations: ['create'] })
    await adding.paste(names(count).join('\n'))
    expect(said.filter(sentence => sentence === english.reading)).toHaveLength(sentences)
  }
})

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

const record = (zone: string) => ({ type: 'TXT', name: `_x.${zone}`, host: '_x', zone, value: `value of ${zone}` })
/** Wants a record for each registrable domain that is not proven. */
const askRecords =
  (proven: ReadonlySet<string>, waits: boolean): CheckNames =>
  proposed =>
    proposed.map(({ registrableDomain: zone }) =>
      proven.has(zone)
        ? null
        : {
            code: 'invalid_domain',
            reason: 'not_verified',
            message: `Add it to ${zone}.`,
            record: record(zone),
            waits,
          },
    )

test('names that need a DNS record, of a service that keeps nothing, have one card for each record', async () => {
  const proven = new Set<string>()
  const { adding, told } = open({ checkNames: askRecords(proven, false) })
  const isIdle = () => adding.work.kind === undefined && adding.names.count('unchecked') === 0
  void adding.add([...names(17), 'a.example.org', 'https://b.example.org/'])
  await until(isIdle)
  const status = '0 names can be registered, 1 needs a correction, 18 cannot be registered yet'
  expect(adding.status?.(english)).toBe(status)
  const shown = () => adding.records.map(({ record, texts }) => [record, texts.length])
  const both = [
    [record('example.com'), 17],
    [record('example.org'), 1],
  ]
  expect(shown()).toEqual(both)
  const [first] = adding.records
  if (!first) throw new Error('There are no records')
  const again = adding.checkRecord(first)
  expect(shown()).toEqual(both)
  await again
  expect(shown()).toEqual(both)
  const stopped = adding.checkRecord(first)
  adding.work.stop()
  await stopped
  expect(shown()).toEqual(both)

  proven.add('example.com').add('example.org')
  await adding.checkRecord(first)
  expect(shown()).toEqual([[record('example.org'), 1]])
  expect(adding.names.count('ready')).toBe(17)
  expect(adding.status?.(english)).toBe('The DNS record of example.com was found; 17 names can be registered')
  adding.edit(each => each.remove(({ state }) => state === 'hopeless'))
  expect(adding.names.count('unproven')).toBe(1)
  expect(told).toEqual([])
})

test('names that wait are kept by the service, are listed, and what becomes of them is said', async () => {
  const proven = new Set<string>()
  const checkNames = askRecords(proven, true)
  const waiting = createMemoryWaitingStore()
  const { adding, team, store, said } = open({ checkNames, waiting })
  await team.load()
  void adding.add([...names(2), 'a.example.org', 'https://b.example.net/x'])
  await until(() => adding.names.count('unchecked') === 0 && adding.work.kind === undefined)
  expect([adding.names.count('waits'), adding.records]).toEqual([3, []])
  await adding.register()
  expect(adding.status?.(english)).toBe('Done: 0 names registered, 1 still to correct, 3 still wait.')
  await until(() => !team.isLoading && team.waitingCount === 3)
  const shown = () => team.shown.map(({ domain, state }) => `${domain} ${state}`)
  expect(shown()).toEqual(['a.example.org waits', 'h0.example.com waits', 'h1.example.com waits'])
  expect(team.records.map(({ record, texts }) => [record.zone, texts.length])).toEqual([
    ['example.org', 1],
    ['example.com', 2],
  ])
  expect(team.records[0]?.lastTried).toBeInstanceOf(Date)

  // Registered by the service, or in another tab; and one whose wait has ended.
  proven.add('example.com')
  await registerDomains(caller, { domains: names(2) }, store, { checkNames, waiting })
  await deleteDomains(caller, { domains: ['a.example.org'] }, store, { waiting })
  await team.look()
  expect(team.status?.(english)).toBe(
    '2 names are registered now. a.example.org no longer waits, and is not registered.',
  )
  expect(said.at(-1)).toBe(team.status?.(english))
  expect(shown()).toEqual(['a.example.org failed', 'h1.example.com registered', 'h0.example.com registered'])
  expect([team.waitingCount, team.records]).toEqual([0, []])
  const before = team.shown
  await team.look()
  expect(team.shown).toEqual(before)
  await team.delete(team.shown.filter(({ state }) => state === 'failed'))
  expect(shown()).toEqual(['h1.example.com registered', 'h0.example.com registered'])
})

test('"Check again" sends the names of a record, and a name that waits can be deleted', async () => {
  const proven = new Set<string>()
  const checkNames = askRecords(proven, true)
  const { team, store, said, registered, waiting } = open({ checkNames, waiting: createMemoryWaitingStore() })
  await registerDomains(caller, { domains: ['a.example.com', 'b.example.org'] }, store, { checkNames, waiting })
  await team.load()
  const [com] = team.records
  if (!com) throw new Error('There are no records')
  await team.checkRecord(com)
  expect(team.status?.(english)).toBe('The DNS record of example.com was not found yet')
  proven.add('example.com')
  await team.checkRecord(com)
  await until(() => team.waitingCount === 1 && team.entries.length === 1)
  expect(registered).toEqual(['a.example.com'])
  await team.delete(team.shown.filter(({ state }) => state === 'waits'))
  expect([team.waitingCount, team.shown.length, said.at(-1)]).toEqual([0, 1, '1 name deleted.'])
})

test('of two clicks on "Show more", the second asks for the same page', async () => {
  const { team, store } = open()
  const all = names(2100)
  for (let index = 0; index < all.length; index += 100) {
    await registerDomains(caller, { domains: all.slice(index, index + 100) }, store)
  }
  await team.load()
  await Promise.all([team.more(), team.more()])
  expect(team.entries.length).toBe(2000)
  await team.more()
  expect(new Set(team.entries.map(({ domain }) => domain)).size).toBe(2100)
})

test('what may be deleted is known without a call that deletes', async () => {
  const { team, store, calls } = open()
  await registerDomains(caller, { domains: names(1) }, store)
  await team.load()
  expect([team.mayDelete, calls.filter(call => !call.startsWith('GET'))]).toEqual([true, []])
  const reading = open({ operations: ['create', 'list'] })
  await registerDomains(caller, { domains: names(1) }, reading.store)
  await reading.team.load()
  expect([reading.team.entries.length, reading.team.mayDelete]).toEqual([1, false])
})

test('a look that fails says nothing, and changes nothing', async () => {
  const { team, store, told, fail } = open()
  await registerDomains(caller, { domains: names(2) }, store)
  await team.load()
  const { shown } = team
  fail(true)
  await team.look()
  expect([team.shown, team.work.failure, told]).toEqual([shown, undefined, []])
})

test('all dropped files are read; those behind a table wait for the choice of its column', async () => {
  const { adding } = open()
  const table = 'Nr;Old;New\n1;old1.example.com;a.example.com\n2;;b.example.com\n'
  await adding.pasteFiles(['c.example.com\n', table, 'd.example.com'].map(text => new Blob([text])))
  expect([adding.names.size, adding.table?.columns.length]).toEqual([1, 3])
  await adding.takeColumn(2)
  await until(() => adding.names.count('ready') === 4)
})

test('more than can be read is refused in words', async () => {
  const { adding } = open()
  await adding.pasteFiles([new Blob(['x'.repeat(20_000_001)])])
  expect(adding.notice?.(english)).toBe(
    'This is more than 20 MB. Copy only the column with the hostnames, and paste it here.',
  )
  expect(await adding.paste('x\n'.repeat(10_000_001))).toBe(false)
})

test('what is corrected while something runs is drawn at once', async () => {
  const { adding, changes } = open()
  void adding.add([...names(150), 'https://b.example.org/x'])
  await until(() => adding.work.kind === undefined && adding.names.count('ready') === 150)
  const running = adding.register()
  const before = changes()
  adding.editAndCheck(each => each.useCorrections())
  for (let turn = 0; turn < 10; turn += 1) await null
  expect(changes()).toBeGreaterThan(before)
  await running
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
  const reading = adding.pasteFiles([new Blob(['a.example.com\nb.example.com'])])
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
