import { describe, expect, onTestFinished, test } from 'vitest'
import { SyncAllError, type SyncAllOptions, syncAll } from '../../src/client/index.ts'
import { type CheckNames, createMemoryStore } from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { isLong } from '../counts.ts'
import { createStore, rejection } from '../fixtures.ts'
import { startProgram } from '../start-program.ts'
import { callHere, names, serve } from './service.ts'

/** A service with the registrations of team 1, which may have `room` more, and one of team 2. */
async function create(registered: readonly string[], room?: number, more: Parameters<typeof callHere>[2] = {}) {
  const maxDomains = room === undefined ? undefined : registered.length + room
  const team = { id: '1', organizationId: '10', state: 'active', maxDomains } as const
  const store = createMemoryStore({ teams: [team, { ...team, id: '2' }] })
  if (registered.length > 0) await save(store, '1', registered)
  await save(store, '2', ['elsewhere.com'])
  const list = async () => (await store.list({ teamId: '1', limit: 1000 })).map(({ domain }) => domain)
  return { store, list, ...callHere(store, undefined, more) }
}

test('syncAll registers exactly the wanted names, keeps existing IDs, and changes nothing when repeated', async () => {
  const { store, list, options, calls } = await create(names(10))
  const [, { domainId } = { domainId: '' }] = await store.list({ teamId: '1' })
  const wanted = [' N1.com.', 'n2.com', 'n3.com', 'n4.com', 'n5.com', 'n6.com', 'n7.com', 'bücher.com', 'n7.com']
  const plan = await syncAll(wanted, options)
  expect(plan).toEqual({
    additions: ['bücher.com'],
    deletions: ['n0.com', 'n8.com', 'n9.com'],
    unchanged: 7,
    refused: [],
  })
  expect((await list()).toSorted()).toEqual([...names(8).slice(1), 'xn--bcher-kva.com'])
  expect((await store.list({ teamId: '1' }))[0]).toMatchObject({ domain: 'n1.com', domainId })
  expect(await store.count({ teamId: '2' })).toBe(1)
  calls.length = 0
  expect(await syncAll(wanted, options)).toMatchObject({ additions: [], deletions: [], unchanged: 8 })
  expect(calls).toEqual([0, 9])
})

test('syncAll can replace names with a wildcard that covers them, and the wildcard with names', async () => {
  const { list, options } = await create(['a.b.com', 'c.com', 'd.com', 'e.com'])
  await syncAll(['*.b.com', 'c.com', 'd.com', 'e.com'], options)
  expect((await list()).toSorted()).toEqual(['*.b.com', 'c.com', 'd.com', 'e.com'])
  await syncAll(['x.b.com', 'a.b.com', 'c.com', 'd.com', 'e.com'], options)
  expect((await list()).toSorted()).toEqual(['a.b.com', 'c.com', 'd.com', 'e.com', 'x.b.com'])
})

test('a dry run of syncAll returns the plan, even if the plan is impossible, and changes nothing', async () => {
  const { list, options } = await create(names(3))
  expect(await syncAll(['localhost', 'new.com'], { ...options, dryRun: true })).toMatchObject({
    additions: ['new.com'],
    deletions: names(3),
    unchanged: 0,
    refused: [{ input: 'localhost', code: 'internal_domain' }],
  })
  expect(await list()).toEqual(names(3))
})

test.each<[what: string, secrets: Pick<SyncAllOptions, 'apiKey' | 'headers'>, expected: RegExp]>([
  ['the key', { apiKey: 'token-of-a-session' }, /: {2}\[2J a\.com for \[API key\]\. x{50,1000} Nothing was changed\.$/],
  [
    'headers',
    { headers: { 'X-Session': 'token-of-a-session' } },
    /: {2}\[2J a\.com for \[header\]\. x{50,1000} Nothing/,
  ],
  [
    'headers from a function, by naming only the name',
    { headers: () => ({ 'X-Session': 'token-of-a-session' }) },
    /: "a\.com"\. Nothing/,
  ],
])('an error shows a hostile service’s reason as one short line that hides %s', async (_, secrets, expected) => {
  const message = `\u001b[2J\u202ea.com for token-of-a-session.\r\n${'x'.repeat(100_000)}`
  const results = [{ status: 'invalid', input: 'a.com', code: 'invalid_domain', message }]
  const fetch = async (url: unknown) =>
    Response.json({ data: String(url).endsWith('/preview') ? { results, room: null } : { domains: [], next: null } })
  const error = (await rejection(syncAll(['a.com'], { url: 'http://x', ...secrets, fetch }))) as Error
  expect(error.message).toMatch(expected)
  expect(error.message).not.toContain('token-of')
})

describe.each([
  ['without a limit', undefined],
  ['at its limit', 0],
])('for a team %s, syncAll changes nothing, and its error contains the plan,', (_, room) => {
  test.each<[what: string, wanted: string[], code: string, message: RegExp]>([
    [
      'a wanted name is not a hostname',
      [...names(9), 'no name'],
      'names_rejected',
      /^A wanted name is rejected: "no name" .* Nothing was/,
    ],
    [
      'another team has registered a wanted name',
      [...names(9), 'elsewhere.com'],
      'names_rejected',
      /"elsewhere\.com" .* another team\. Nothing was/,
    ],
    [
      'wanted names overlap',
      [...names(9), 'a.b.com', ...names(300).slice(200), '*.B.com', '*.a.b.com'],
      'names_rejected',
      /^A wanted name is rejected: "a\.b\.com" is covered by "\*\.B\.com", .* Also rejected: 1 more\. Nothing was/,
    ],
    [
      'it would delete more names than `mostDeletions` allows',
      names(6),
      'too_many_deletions',
      /^4 of 10 registrations would be deleted, but "mostDeletions" is 0\.3\. Nothing was changed\.$/,
    ],
    ['the list of wanted names is empty', [], 'too_many_deletions', /^10 of 10 registrations would be deleted/],
  ])('if %s', async (_, wanted, code, message) => {
    const { list, options } = await create(names(10), room)
    const error = await rejection(syncAll(wanted, options))
    expect(error).toBeInstanceOf(SyncAllError)
    expect(error).toMatchObject({ code, status: undefined })
    expect((error as Error).message).toMatch(message)
    expect((error as SyncAllError).plan).toHaveProperty('deletions')
    expect(await list()).toEqual(names(10))
  })
})

test.each(['wildcard_conflict', 'subdomain_conflict'] as const)(
  'syncAll changes nothing if the application itself rejects a name with %s, which no deletion can change',
  async code => {
    const checkNames: CheckNames = asked =>
      asked.map(({ domain }) => (domain === 'no.com' ? { code, message: 'Not yours.' } : null))
    const { list, options } = await create(names(10), undefined, { checkNames })
    expect(await rejection(syncAll([...names(8), 'no.com'], options))).toMatchObject({
      message: 'A wanted name is rejected: Not yours. Nothing was changed.',
      plan: { refused: [{ input: 'no.com', code }] },
    })
    expect(await list()).toEqual(names(10))
  },
)

test('if syncAll has deleted names and another caller then takes a wanted one, its error says so', async () => {
  const { store, list, options } = await create(['a.com', 'b.com'])
  const fetch: typeof options.fetch = async (url, init) => {
    const response = await options.fetch(url, init)
    if (String(url).endsWith('/delete')) await save(store, '2', ['new.com'])
    return response
  }
  expect(await rejection(syncAll(['a.com', 'new.com'], { ...options, fetch, mostDeletions: 1 }))).toMatchObject({
    code: 'names_rejected',
    message: expect.stringMatching(/^The plan was carried out only in part: A wanted name is rejected: "new\.com"/),
    plan: { deletions: ['b.com'], refused: [{ input: 'new.com', code: 'domain_already_licensed' }] },
  })
  expect(await list()).toEqual(['a.com'])
})

test('if a call fails after syncAll has deleted names, its error has the code and status of that call', async () => {
  const { options } = await create(names(10))
  const fetch: typeof options.fetch = async (url, init) =>
    init?.method === 'POST' && url.toString().endsWith('/domains')
      ? Response.json({ error: 'team_suspended', message: 'Suspended.' }, { status: 403 })
      : options.fetch(url, init)
  expect(await rejection(syncAll([...names(9), 'new.com'], { ...options, fetch }))).toMatchObject({
    name: 'SyncAllError',
    code: 'team_suspended',
    status: 403,
    message: 'The plan was carried out only in part: Suspended.',
    cause: { name: 'RegisterAllError', inputs: ['new.com'] },
    plan: { deletions: ['n9.com'] },
  })
})

test.each([
  ['*.b.com', 'A.b.com.'],
  ['a.b.com', '*.B.com.'],
  ['*.bücher.com', 'a.BÜCHER.com'],
  ['a.bücher.com', '*.bücher。com'],
  ['*.xn--a.example.com', 'b.XN--A.example.com'],
  ['b.xn--a.example.com', '*.XN--A.example.com'],
])(
  'syncAll changes nothing if %j, which is registered and still wanted, overlaps the newly wanted %j',
  async (registered, other) => {
    const { list, options } = await create([registered, ...names(9)])
    const before = await list()
    const wanted = [registered, other, ...names(9).slice(1)]
    expect(String(await rejection(syncAll(wanted, options)))).toMatch(
      /which is wanted as well\. Nothing was changed\.$/,
    )
    expect(await list()).toEqual(before)
  },
)

describe('if the team has a limit, syncAll', () => {
  const all = { mostDeletions: 1 }

  test.each([
    [10, 0, 3],
    [300, 0, 300],
    [300, 7, 150],
  ])('replaces names (%i names, room for %i, %i replaced)', async (count, room, replaced) => {
    const { list, options, calls } = await create(names(count), room)
    const wanted = names(count + replaced).slice(replaced)
    const plan = await syncAll(wanted, { ...options, ...all })
    expect([plan.additions.length, plan.deletions.length]).toEqual([replaced, replaced])
    expect((await list()).toSorted()).toEqual(wanted.toSorted())
    expect(calls.length).toBeLessThan(20 + 2 * replaced)
  })

  test('keeps a name in another spelling, with its ID', async () => {
    const { list, options } = await create(names(3), 0)
    const plan = await syncAll([' N0.com.', 'bücher.com', 'n2.com'], { ...options, ...all })
    expect(plan).toMatchObject({ additions: ['bücher.com'], deletions: ['n1.com'], unchanged: 2 })
    expect((await list()).toSorted()).toEqual(['n0.com', 'n2.com', 'xn--bcher-kva.com'])
  })

  test.each([0, 7, 60])(
    'registers as many names as fit, and changes nothing for one more (room for %i)',
    async room => {
      const { list, options } = await create(names(10), room)
      const wanted = names(10 + room + 4).slice(3)
      expect(await syncAll(wanted, { ...options, dryRun: true })).toMatchObject({ deletions: names(3) })
      expect(await rejection(syncAll(wanted, { ...options, ...all }))).toMatchObject({
        name: 'SyncAllError',
        message: `The team's limit leaves no room for ${room + 4} more names and 3 fewer. Nothing was changed.`,
        plan: { deletions: names(3) },
      })
      expect(await list()).toEqual(names(10))
      await syncAll(wanted.slice(0, -1), { ...options, ...all })
      expect(await list()).toHaveLength(10 + room)
    },
  )

  test('changes nothing if many names do not fit', async () => {
    const { list, options } = await create(names(10), 120)
    expect(await rejection(syncAll(names(132).slice(1), { ...options, ...all }))).toMatchObject({
      message: "The team's limit leaves no room for 122 more names and 1 fewer. Nothing was changed.",
    })
    expect(await list()).toEqual(names(10))
    await syncAll(names(130), { ...options, ...all })
    expect(await list()).toHaveLength(130)
  })

  test('deletes names of a team above its limit, but only if no others are added beyond the limit', async () => {
    const { store, list, options } = await create(names(10), 0)
    store.addTeam({ id: '1', organizationId: '10', state: 'active', maxDomains: 5 })
    expect(await rejection(syncAll([...names(5), 'new.com'], { ...options, ...all }))).toMatchObject({
      message: "The team's limit leaves no room for 1 more names and 5 fewer. Nothing was changed.",
    })
    expect(await list()).toEqual(names(10))
    await syncAll(names(8), { ...options, ...all })
    expect(await list()).toEqual(names(8))
    await syncAll([...names(4), 'new.com'], { ...options, ...all })
    expect(await list()).toEqual([...names(4), 'new.com'])
  })

  test('needs one call for each 100 names to learn that a full team has no room', async () => {
    const { options, calls } = await create(names(1), 0)
    const { additions } = await syncAll(names(1000), { ...options, dryRun: true })
    expect(additions).toHaveLength(999)
    expect(calls).toEqual([0, ...Array(10).fill(100)])
  })
})

test('syncAll plans a name that is wanted in several spellings once, even if they are in different calls', async () => {
  const { options } = await create([])
  const plan = await syncAll([...names(150), 'N0.com.', ...names(3)], { ...options, dryRun: true })
  expect(plan.additions).toEqual(names(150))
})

test('syncAll deletes as many names as `mostDeletions` allows', async () => {
  const { list, options } = await create(names(10))
  await syncAll(['new.com'], { ...options, mostDeletions: 1 })
  expect(await list()).toEqual(['new.com'])
})

test.each<[what: string, changes: object, message: RegExp]>([
  [
    '30 as `mostDeletions`, which must be from 0 to 1',
    { mostDeletions: 30 },
    /"mostDeletions" must be a share from 0 to 1/,
  ],
  ['the string "yes" as `dryRun`', { dryRun: 'yes' }, /"dryRun" must be true or false/],
  ['the option `onProgress`', { onProgress: () => {} }, /"onProgress" does not exist/],
])('syncAll rejects %s', async (_, changes, message) => {
  const { options } = callHere(createStore())
  expect(String(await rejection(syncAll([], { ...options, ...changes } as never)))).toMatch(message)
})

test('syncAll reaches the wanted state when repeated after being killed during any of its calls', async () => {
  const before = names(500)
  const wanted = [...names(640).slice(150), '*.wild.com']
  let calls = 0
  let killAt = 0
  let kill = () => {}
  const { options, store } = await serve(() => {
    calls += 1
    if (calls === killAt) kill()
    return false
  })
  const list = async () => (await store.list({ teamId: '1', limit: 1000 })).map(({ domain }) => domain)
  let kills = 0
  for (killAt = 1; ; killAt += isLong ? 1 : 3) {
    await store.release('1', await list())
    await save(store, '1', before)
    calls = 0
    const program = await startProgram(new URL('sync-program.ts', import.meta.url))
    onTestFinished(program.kill)
    kill = () => void program.kill()
    const ended = await program.ask({ wanted, options }).catch(() => 'killed')
    if (ended !== 'killed') break
    kills += 1
    kill = () => {}
    await syncAll(wanted, options)
    expect((await list()).toSorted()).toEqual(wanted.toSorted())
  }
  // `syncAll` makes ten calls: one `list`, five of `preview`, two of `delete`, and two of `create`. A short run kills
  // the process only during four of these calls.
  expect(kills).toBe(isLong ? 10 : 4)
}, 600_000)
