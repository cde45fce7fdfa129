import { afterEach, expect, test, vi } from 'vitest'
import { type OpenApiResponse, openapi } from '../../src/openapi/index.ts'
import type { Change } from '../../src/rules/registration.ts'
import { createWebhook, MonitorUnavailableError, verifyWebhook, type WebhookBody } from '../../src/webhook/index.ts'
import { receive } from '../webhook/receiver.ts'
import { compileSchema } from './compile-schema.ts'

const document = openapi({ webhooks: true })
const { description, parameters, requestBody, responses } = document.webhooks?.['domains.changed'].post ?? expect.fail()
const { schema, examples } = requestBody.content['application/json']
const example = examples.changes?.value as WebhookBody
const headers = Object.fromEntries(parameters.map(({ name, example }) => [name, example]))
const secret = /`(whsec_\S+)`/.exec(description)?.[1] ?? expect.fail()
const changes = example.data.changes.map((change): Change => ({ ...change, at: new Date(change.at) }))

const sendAtTheTimeOfTheExample = () =>
  vi.useFakeTimers({ toFake: ['Date'], now: Number(headers['webhook-timestamp']) * 1000 })
afterEach(() => void vi.useRealTimers())

test('the document has the webhook and its schemas only if the option `webhooks` is true', () => {
  expect(openapi()).not.toHaveProperty('webhooks')
  expect(Object.keys(openapi().components.schemas).join()).not.toContain('Change')
  expect(() => openapi({ webhooks: {} as never })).toThrow('"webhooks" must be true or false')
})

test('verifyWebhook accepts the signature of the example webhook only with its exact body', async () => {
  sendAtTheTimeOfTheExample()
  expect(await verifyWebhook(headers, JSON.stringify(example), secret)).toEqual(example)
  await expect(verifyWebhook(headers, JSON.stringify(example, null, 1), secret)).rejects.toThrow('signature')
})

test('createWebhook sends exactly the headers and body of the example webhook', async () => {
  sendAtTheTimeOfTheExample()
  const { url, received } = await receive()
  await createWebhook({ url, secret })(changes)
  expect(received).toMatchObject([{ headers, body: JSON.stringify(example) }])
  expect(Object.keys(received[0]?.headers ?? {}).filter(name => name.startsWith('webhook-'))).toEqual(
    Object.keys(headers),
  )
})

test('the schemas accept each request of createWebhook, but reject a request if a change lacks a field', async () => {
  const { url, received } = await receive()
  await createWebhook({ url, secret: [secret, `whsec_${btoa('x'.repeat(24))}`], batchSize: 1 })(changes)
  const fitsBody = compileSchema(document, schema)
  for (const { headers, body } of received) {
    for (const { name, schema } of parameters) expect(compileSchema(document, schema)(headers[name])).toBe(true)
    const sent: WebhookBody = JSON.parse(body)
    expect([fitsBody(sent), fitsBody.errors]).toEqual([true, null])
    for (const left of Object.keys(sent.data.changes[0] ?? {})) {
      const changes = sent.data.changes.map(change => ({ ...change, [left]: undefined }))
      expect(fitsBody(JSON.parse(JSON.stringify({ ...sent, data: { changes } })))).toBe(false)
    }
  }
  expect(received).toHaveLength(2)
})

test.each([200, 204, 302, 400, 401, 404, 408, 422, 425, 429, 500, 501, 502, 503, 504, 505])(
  'createWebhook handles a %i response from the monitor the way the OpenAPI document describes',
  async status => {
    const { url } = await receive(response => response.writeHead(status).end())
    const failure = await createWebhook({ url, secret })(changes).catch((error: unknown) => error)
    const meaning =
      failure === undefined ? 'saved' : failure instanceof MonitorUnavailableError ? 'unavailable' : 'refuse'
    const documented: Pick<OpenApiResponse, 'description'> | undefined =
      responses[status] ?? responses[`${Math.floor(status / 100)}XX`]
    expect(documented?.description).toContain(meaning)
  },
)
