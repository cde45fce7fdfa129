import { displayHostname } from '../hostname/display.ts'
import { quote } from '../hostname/quote.ts'
import { isAddress } from '../rules/name.ts'
import type { NameRefusal } from '../rules/submitted.ts'
import type { Verification } from './verify.ts'

type Unverified<Status extends Verification['status']> = Extract<Verification, { readonly status: Status }>

/** Turns a verification into the word of `checkNames` on the name. */
export function toRefusal(verification: Verification): NameRefusal | null {
  switch (verification.status) {
    case 'verified':
      return null
    case 'missing':
      return { code, reason: 'not_verified', message: explainMissing(verification), record: verification.record }
    case 'unreachable':
      return { code, reason: 'dns_unreachable', message: explainUnreachable(verification), record: verification.record }
    case 'impossible': {
      const message = isAddress(verification.domain)
        ? 'An IP address cannot be proven by a DNS record.'
        : 'The name is too long to be proven by a DNS record.'
      return { code, reason: 'not_verifiable', message }
    }
  }
}

const code = 'invalid_domain'

function explainMissing({ record, doubled, found, rememberedUntil }: Unverified<'missing'>): string {
  const { name, host, zone, value } = record
  const request =
    `Prove that you control ${show(zone)}: add the TXT record ${name} with the value ${value} to its DNS, ` +
    'and try again.'
  if (doubled) {
    const place = `The value is at ${name}.${zone}`
    return `${request} ${place}: your DNS provider adds "${zone}" by itself, so enter only "${host}".`
  }
  if (found > 0) {
    const others = found === 1 ? 'another value' : `${found} other values`
    return `${request} There is such a record already, with ${others}; add yours beside it.`
  }
  const time = rememberedUntil ? `until ${toMinute(rememberedUntil)}` : 'for some minutes'
  return `${request} If you have just added it, resolvers may remember ${time} that it was missing.`
}

function explainUnreachable({ record, at, cause }: Unverified<'unreachable'>): string {
  const { name, zone, value } = record
  const failure = `The DNS of ${show(zone)} could not be asked for ${at} (${cause.replace(/^E/, '')})`
  return at === name
    ? `${failure}, so the record may or may not be there. Try again later.`
    : `${failure}. Try again later, or add the TXT record ${name} with the value ${value}.`
}

const show = (zone: string) => quote(displayHostname(zone))

/** The next full minute, in UTC. */
const toMinute = (time: Date) =>
  `${new Date(60_000 * Math.ceil(time.getTime() / 60_000)).toISOString().slice(0, 16).replace('T', ' ')} UTC`
