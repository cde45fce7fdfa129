import type { Name } from '../rules/name.ts'
import type { DnsRecord } from '../rules/submitted.ts'
import { hmac, importSecret, toHex } from '../runtime/sha256.ts'

/** How many bytes of the HMAC a value has: 128 bits, which nobody guesses, as 32 digits, which people can copy. */
const VALUE_LENGTH = 16

/** The records of one product: where they lie, and what they contain. */
export interface Records {
  /** The name of the record that proves a domain. It may be too long for the DNS. */
  nameAt(domain: string): string
  /** The values that prove a team's names below a zone: one for each secret. */
  values(teamId: string, zone: string): Promise<readonly string[]>
  /** The record that a team adds to prove `domain`, which is `registrableDomain` or below it. */
  create(teamId: string, name: Name): Promise<DnsRecord>
}

/**
 * Makes values without storing any: a value is an HMAC of the team and the registrable domain, so it never changes, and
 * the value of another team or domain proves nothing. Where a record lies decides what it proves.
 *
 * @param secrets The first one is that of new records.
 */
export function createRecords(label: string, secrets: readonly string[]): Records {
  const encode = (text: string) => new TextEncoder().encode(text)

  /** Imports the keys each time: a Worker may not wait at its start, nor for what another request has begun. */
  async function toValue(secret: string, content: Uint8Array<ArrayBuffer>): Promise<string> {
    const key = await importSecret(encode(secret))
    return toHex((await hmac(key, content)).subarray(0, VALUE_LENGTH))
  }

  function values(teamId: string, zone: string): Promise<readonly string[]> {
    const content = encode(JSON.stringify(['dns-verification', 1, teamId, zone]))
    return Promise.all(secrets.map(secret => toValue(secret, content)))
  }

  return {
    nameAt: domain => `${label}.${domain}`,
    values,
    async create(teamId, { domain, registrableDomain: zone }) {
      const [value = ''] = await values(teamId, zone)
      const name = `${label}.${domain}`
      return { type: 'TXT', name, host: name.slice(0, -zone.length - 1), zone, value }
    },
  }
}

/**
 * Finds the first value that one of the texts contains. Forms of DNS providers and people add quotation marks, spaces,
 * `token=`, the label or a dot. Nobody writes 32 digits of an HMAC by chance, so they count among other words too.
 *
 * @returns The index of the value, or -1.
 */
export function findValue(texts: readonly string[], values: readonly string[]): number {
  const written = texts.map(text => text.toLowerCase())
  return values.findIndex(value => written.some(text => text.includes(value)))
}
