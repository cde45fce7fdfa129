import type { ResolveTxt } from 'domain-registration/dns-verification'

/** The number of TXT records (RFC 1035, section 3.2.2). */
const TXT = 16

/**
 * Asks a resolver for TXT records over HTTPS, in the JSON format of Cloudflare and Google: the `resolveTxt` of a
 * runtime without `node:dns`.
 */
export const createResolveTxt =
  (resolver = 'https://cloudflare-dns.com/dns-query'): ResolveTxt =>
  async (name, { signal }) => {
    const url = `${resolver}?name=${encodeURIComponent(name)}&type=TXT`
    const response = await fetch(url, { headers: { Accept: 'application/dns-json' }, signal })
    if (!response.ok) throw new Error(`The resolver responded with ${response.status}`)
    const { Status, Answer = [] } = (await response.json()) as Message
    // 0 is NOERROR and 3 is NXDOMAIN. Anything else says nothing about the record.
    if (Status !== 0 && Status !== 3)
      throw Object.assign(new Error(`The DNS responded with ${Status}`), { code: 'ESERVFAIL' })
    return Answer.filter(({ type }) => type === TXT).map(({ data }) => toStrings(data))
  }

interface Message {
  readonly Status: number
  readonly Answer?: readonly { readonly type: number; readonly data: string }[]
}

/** One record may have several strings: `"one" "two"`. */
const toStrings = (data: string) => data.match(/"(?:[^"\\]|\\.)*"/g)?.map(string => string.slice(1, -1)) ?? [data]
