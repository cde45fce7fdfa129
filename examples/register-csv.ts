/** Registers the names in one column of a CSV file, as long as no cell contains a comma. */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import { registerAll } from 'domain-registration/client'

async function* readColumn(file: string, title: string) {
  let column: number | undefined
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const cells = line.split(',').map(cell => cell.replace(/^"(.*)"$/, '$1'))
    if (column === undefined) column = cells.indexOf(title)
    else yield cells[column] ?? ''
  }
}

const { DOMAINS_URL: url = 'http://localhost:3000/v1/domains', API_KEY: apiKey = 'svc_team_1_…' } = process.env
for await (const result of registerAll(readColumn(process.argv[2] ?? 'customers.csv', 'domain'), { url, apiKey })) {
  if (result.status === 'invalid') console.log(result.input, result.message)
}
