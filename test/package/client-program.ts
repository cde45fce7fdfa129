/** Calls the server with each generated client, and prints the responses. The compiler has checked this file. */

import { client } from './hey-api/client.gen.ts'
import { registerDomains as heyApi } from './hey-api/sdk.gen.ts'
import type { paths } from './openapi-typescript.ts'
import { registerDomains as orval } from './orval.ts'

const [url = '', key = ''] = process.argv.slice(2)
const headers = { Authorization: `Bearer ${key}` }

type Operation = paths['/v1/domains']['post']
const body: Operation['requestBody']['content']['application/json'] = { domains: ['www.example.com', 'localhost'] }
const response = await fetch(`${url}/v1/domains`, {
  method: 'POST',
  headers: { ...headers, 'Content-Type': 'application/json' },
  body: JSON.stringify(body),
})
const answer = (await response.json()) as Operation['responses'][200]['content']['application/json']

const ofOrval = await orval(body, { headers })
if (ofOrval.status !== 200) throw new Error(ofOrval.data.message)

client.setConfig({ baseUrl: url, auth: key })
const ofHeyApi = await heyApi({ body })
if (!ofHeyApi.data) throw new Error(ofHeyApi.error.message)

const refused = await orval(body)
if (refused.status !== 401) throw new Error(String(refused.status))

const show = (results: typeof answer.data.results) =>
  results.map(result => (result.status === 'invalid' ? result.code : result.status))
console.log(
  JSON.stringify({
    openapiTypescript: show(answer.data.results),
    orval: show(ofOrval.data.data.results),
    heyApi: show(ofHeyApi.data.data.results),
    refused: refused.data.error,
  }),
)
