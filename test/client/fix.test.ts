import { expect, test } from 'vitest'
import { registerAll } from '../../src/client/index.ts'
import { answer, loseAnswer, names, serve } from './serve.ts'

const pasted = [
  'https://Bücher.de/',
  'example.com',
  'localhost',
  '"www.example.com",',
  'www.example.com',
  'exam ple.com',
]

test('with the option "fix", a suggestion from a preview replaces the name; the result has both names', async () => {
  const { options, store } = await serve()
  const { results, totals } = await registerAll(pasted, { ...options, fix: true })
  expect(results.map(result => [result.input, result.status, result.sent])).toEqual([
    ['https://Bücher.de/', 'created', 'xn--bcher-kva.de'],
    ['example.com', 'created', undefined],
    ['localhost', 'invalid', undefined],
    ['"www.example.com",', 'created', 'www.example.com'],
    ['www.example.com', 'existing', undefined],
    ['exam ple.com', 'invalid', undefined],
  ])
  expect(totals).toEqual({ created: 3, existing: 1, invalid: 2 })
  expect((await store.list()).map(({ domain }) => domain)).toEqual([
    ...['xn--bcher-kva.de', 'example.com', 'www.example.com'],
  ])
})

test('without the option "fix", no name is replaced and no preview is sent', async () => {
  let calls = 0
  const { options } = await serve(() => {
    calls += 1
    return false
  })
  const { results } = await registerAll(pasted, options)
  expect(results.map(({ status }) => status)).toEqual([
    ...['invalid', 'created', 'invalid', 'invalid', 'created', 'invalid'],
  ])
  expect(calls).toBe(1)
})

test('with the option "fix", a call whose response was lost is retried, and each name gets its result', async () => {
  const { options } = await serve((call, response) => (call === 1 || call === 4 ? loseAnswer(response) : false))
  const typed = names(250).map((name, index) => (index % 2 === 0 ? `https://${name}/` : name))
  const { results } = await registerAll(typed, { ...options, fix: true, concurrency: 1 })
  expect(results.map(({ input }) => input)).toEqual(typed)
  expect(results.map(result => (result.status === 'invalid' ? result.code : result.domain))).toEqual(names(250))
  expect(results.filter(({ sent }) => sent !== undefined)).toHaveLength(125)
})

test('with the option "fix", registerAll registers nothing and fails if the service offers no previews', async () => {
  const { options, store } = await serve((_, response) =>
    answer(response, 404, { error: 'not_found', message: 'None.' }),
  )
  await expect(registerAll(pasted, { ...options, fix: true })).rejects.toMatchObject({ status: 404, resumeAt: 0 })
  expect(await store.count()).toBe(0)
})

test('registerAll rejects the value "yes" for the option `fix`', async () => {
  const { options } = await serve()
  await expect(registerAll(pasted, { ...options, fix: 'yes' } as never)).rejects.toThrow('"fix" must be true or false')
})
