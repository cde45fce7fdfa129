import { MAX_DOMAINS } from '../src/wire/request.ts'

/** What is sent to the servers under load. */
export const path = '/v1/domains'
export const teamId = '1'
export const apiKey = `svc_team_${teamId}_${'5'.repeat(64)}`
export const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' }

const words = ['shop', 'blue', 'data', 'nord', 'home', 'farm', 'play']
const suffixes = ['com', 'net', 'org', 'dev', 'app', 'xyz']
const hosts = ['', 'www.', '', 'api.']

/**
 * 100 names that no call of another number sends, half of them below their registrable domain. Bodies of all calls, and
 * so their answers, are of about the same size: names differ in digits.
 */
export function namesOfCall(call: number): string[] {
  return Array.from({ length: MAX_DOMAINS }, (_, offset) => {
    const index = call * MAX_DOMAINS + offset
    const number = String(index).padStart(9, '0')
    return `${hosts[index % hosts.length]}${words[index % words.length]}-${number}.${suffixes[index % suffixes.length]}`
  })
}

export const toBody = (domains: readonly string[]): Buffer => Buffer.from(JSON.stringify({ domains }))

/** All that goes over the wire. */
export function toRequest(body: Buffer): Buffer {
  const fields = { ...headers, Host: '127.0.0.1', 'Content-Length': body.length }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  return Buffer.concat([Buffer.from(`POST ${path} HTTP/1.1\r\n${head.join('')}\r\n`), body])
}
