/**
 * Registers the hostnames in a file, one per line, by calling a service with this API. Shows a progress bar, and then
 * the invalid names with their reasons.
 *
 *     API_KEY=svc_team_… tsx examples/register-file.ts https://api.example.com/v1/domains hostnames.txt
 */
import { readFile } from 'node:fs/promises'
import { RegisterAllError, registerAll } from 'domain-registration/client'

const [url = '', file = ''] = process.argv.slice(2)
const names = (await readFile(file, 'utf8')).split(/\r?\n/).filter(line => line.trim() !== '')

function showProgress({ done }: { readonly done: number }): void {
  const filled = Math.floor((30 * done) / names.length)
  const bar = `${'█'.repeat(filled)}${'░'.repeat(30 - filled)}`
  process.stderr.write(
    `${process.stderr.isTTY ? '\r' : ''}${bar} ${done} of ${names.length}${process.stderr.isTTY ? '' : '\n'}`,
  )
}

try {
  const { API_KEY: apiKey = '', TEAM_ID: teamId } = process.env
  const { results, totals } = await registerAll(names, { url, apiKey, teamId, onProgress: showProgress })
  if (process.stderr.isTTY) process.stderr.write('\n')
  console.log(`${totals.created} created, ${totals.existing} existing, ${totals.invalid} invalid`)
  for (const result of results) {
    if (result.status === 'invalid') console.log(`${result.input}\t${result.code}\t${result.message}`)
  }
} catch (error) {
  if (!(error instanceof RegisterAllError)) throw error
  console.error(`Gave up after ${error.results.length} of ${names.length} names: ${error.message} Run this again.`)
  for (const input of error.inputs) console.error(`${input}\thas no result`)
  process.exitCode = 1
}
