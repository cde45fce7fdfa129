import { toHex } from '../keys/sha256.ts'
import type { Name } from '../rules/name.ts'
import type { DnsRecord } from '../rules/submitted.ts'

/** How many bytes of the HMAC a value has: 128 bits, which nobody guesses, as 32 digits, which people can copy. */
const VALUE_LENGTH = 16

const algorithm = { name: 'HMAC', hash: 'SHA-256' }

/** The records of one product: where they lie, and what they contain. */
export interface Records {
  /** The name of the record that proves a domain. It may be too long for the DNS. */
  nameAt(domain: string): string
  /** Whether one of the texts at that name is the value of the team. */
  haveValue(texts: readonly string[], teamId: string, domain: string): Promise<boolean>
  /** The record that a team adds to prove `domain`, which is `registrableDomain` or below it. */
  create(teamId: string, name: Name): Promise<DnsRecord>
}

/**
 * Makes and recognizes values without storing any: a value is an HMAC of the team and the domain, so it never changes,
 * and the value of another team or domain proves nothing.
 *
 * @param secrets The first one makes values; all of them recognize values.
 */
export function createRecords(label: string, secrets: readonly string[]): Records {
  const encode = (text: string) => new TextEncoder().encode(text)

  /** Imports the keys each time: a Worker may not wait at its start, nor for what another request has begun. */
  async function toValue(secret: string, content: Uint8Array<ArrayBuffer>): Promise<string> {
    const key = await crypto.subtle.importKey('raw', encode(secret), algorithm, false, ['sign'])
    return toHex(new Uint8Array(await crypto.subtle.sign(algorithm, key, content), 0, VALUE_LENGTH))
  }

  function toValues(teamId: string, domain: string): Promise<readonly string[]> {
    const content = encode(JSON.stringify(['dns-verification', 1, teamId, domain]))
    return Promise.all(secrets.map(secret => toValue(secret, content)))
  }

  return {
    nameAt: domain => `${label}.${domain}`,
    async haveValue(texts, teamId, domain) {
      const values = await toValues(teamId, domain)
      return texts.some(text => values.includes(clean(text)))
    },
    async create(teamId, { domain, registrableDomain }) {
      const [value = ''] = await toValues(teamId, domain)
      const name = `${label}.${domain}`
      return { type: 'TXT', name, host: name.slice(0, -registrableDomain.length - 1), zone: registrableDomain, value }
    },
  }
}

/** Some forms of DNS providers save the quotation marks of a zone file, and spaces that were copied too. */
const clean = (text: string) =>
  text
    .trim()
    .replace(/^"(.*)"$/s, '$1')
    .trim()
    .toLowerCase()
