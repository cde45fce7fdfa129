import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, onTestFinished, test, vi } from 'vitest'
import { type CheckNames, findOwners, previewDomains, registerDomains, transfer } from '../../src/index.ts'
import { save } from '../../src/testing/calls.ts'
import { createStore, team1 } from '../fixtures.ts'

const page = readFileSync(new URL('../../docs/check-names.md', import.meta.url), 'utf8')

interface Recipe {
  readonly checkNames: CheckNames
  readonly resolver: { setServers(servers: string[]): void }
}

/** Loads the program below a heading of the page. */
async function load(heading: string, ...names: (keyof Recipe)[]): Promise<Recipe> {
  const program = page.split(`## ${heading}`)[1]?.split('```ts\n')[1]?.split('```')[0] ?? ''
  expect(program.trimEnd().split('\n').length).toBeLessThanOrEqual(15)
  const options = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext }
  const source = ts.transpile(`${program}\nexport { ${['checkNames', ...names]} }`, options)
  return import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(source)}`)
}

async function register(teamId: string, domains: string[], checkNames: CheckNames, store = createStore()) {
  const preview = await previewDomains({ ...team1, teamId }, { domains }, store, { checkNames })
  const { data } = await registerDomains({ ...team1, teamId }, { domains }, store, { checkNames })
  const toCodes = (results: readonly { status: string; code?: string }[]) =>
    results.map(each => each.code ?? each.status)
  expect(toCodes(preview.data.results)).toEqual(toCodes(data.results))
  return toCodes(data.results)
}

test('the recipe for names of your own and a block list', async () => {
  const { checkNames } = await load('Names of your own, and a block list')
  const domains = ['www.example.com', 'gmail.com', 'shop.org']
  const denied = 'domain_already_licensed'
  expect(await register('2', domains, checkNames)).toEqual([denied, denied, 'created'])
  expect(await register('1', domains, checkNames)).toEqual(['created', denied, 'created'])
})

test('the recipe for plans without wildcards', async () => {
  const { checkNames } = await load('No wildcards in this plan')
  expect(await register('1', ['*.a.com', 'a.com'], checkNames)).toEqual(['invalid_domain', 'created'])
  expect(await register('2', ['*.a.com', 'a.com'], checkNames)).toEqual(['created', 'created'])
})

test('the recipe for proof by DNS, against a DNS server, and an owner who comes after a squatter', async () => {
  vi.stubEnv('PROOF_SECRET', 'secret')
  onTestFinished(() => void vi.unstubAllEnvs())
  const records = new Map<string, string>()
  const { checkNames, resolver } = await load('Proof by DNS', 'resolver')
  resolver.setServers([await serveDns(records)])
  const store = createStore()
  await save(store, '2', ['www.squatted.org'])

  const { data } = await registerDomains(team1, { domains: ['a.example.org', '*.example.org'] }, store, { checkNames })
  const [, name = '', token = ''] = /record (\S+) "(\S+)"/.exec(JSON.stringify(data).replaceAll('\\', '')) ?? []
  expect([name, data.totals.created]).toEqual(['_registration.example.org', 0])
  records.set(name, token)
  expect(await register('1', ['a.example.org'], checkNames, store)).toEqual(['created'])
  expect(await register('2', ['b.example.org'], checkNames, store)).toEqual(['invalid_domain'])

  expect(await register('1', ['www.squatted.org'], checkNames, store)).toEqual(['domain_already_licensed'])
  const [squatted] = await findOwners(store, ['www.squatted.org'])
  const { teamId = '', domain = '' } = squatted?.registration ?? {}
  await transfer(store, { from: teamId, to: '1', domains: [domain] })
  expect(await register('1', ['www.squatted.org'], checkNames, store)).toEqual(['existing'])
})

/** Serves TXT records (RFC 1035, section 4) on loopback; any other name does not exist. */
async function serveDns(records: ReadonlyMap<string, string>): Promise<string> {
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  socket.on('message', (query, { port, address }) => {
    const labels: string[] = []
    let at = 12
    for (; query[at]; at += 1 + Number(query[at]))
      labels.push(query.toString('latin1', at + 1, at + 1 + Number(query[at])))
    const question = query.subarray(12, at + 5)
    const text = records.get(labels.join('.'))
    const found = text === undefined ? 0 : 1
    const header = Buffer.from([query[0] ?? 0, query[1] ?? 0, 0x81, found ? 0x80 : 0x83, 0, 1, 0, found, 0, 0, 0, 0])
    const length = text?.length ?? 0
    const answer = Buffer.from([0xc0, 12, 0, 16, 0, 1, 0, 0, 0, 0, 0, length + 1, length])
    socket.send(Buffer.concat([header, question, ...(found ? [answer, Buffer.from(text ?? '')] : [])]), port, address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  return `127.0.0.1:${socket.address().port}`
}
