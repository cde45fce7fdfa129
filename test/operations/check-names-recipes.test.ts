import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { expect, test } from 'vitest'
import { type CheckNames, previewDomains, registerDomains } from '../../src/index.ts'
import { createStore, team1 } from '../fixtures.ts'

const page = readFileSync(new URL('../../docs/check-names.md', import.meta.url), 'utf8')

/** Loads the program below a heading of the page. */
async function load(heading: string): Promise<{ readonly checkNames: CheckNames }> {
  const program = page.split(`## ${heading}`)[1]?.split('```ts\n')[1]?.split('```')[0] ?? ''
  expect(program.trimEnd().split('\n').length).toBeLessThanOrEqual(15)
  const options = { target: ts.ScriptTarget.ESNext, module: ts.ModuleKind.ESNext }
  const source = ts.transpile(`${program}\nexport { checkNames }`, options)
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
