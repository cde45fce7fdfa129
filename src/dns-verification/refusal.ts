import { quoteDisplayed } from '../hostname/display.ts'
import { quote } from '../hostname/quote.ts'
import { isAddress } from '../rules/name.ts'
import type { DnsRecord, NameRefusal } from '../rules/submitted.ts'
import type { Mistake, Verification } from './verify.ts'

type Unverified<Status extends Verification['status']> = Extract<Verification, { readonly status: Status }>

/** Turns a verification into the word of `checkNames` on the name. */
export function toRefusal(verification: Verification): NameRefusal | null {
  switch (verification.status) {
    case 'verified':
      return null
    case 'missing':
      return { code, reason: 'not_verified', message: explainMissing(verification), record: verification.record, waits }
    case 'unreachable':
      return {
        code,
        reason: 'dns_unreachable',
        message: explainUnreachable(verification),
        record: verification.record,
        waits,
      }
    case 'impossible': {
      const message = isAddress(verification.domain)
        ? 'An IP address cannot be proven by a DNS record.'
        : 'The name is too long to be proven by a DNS record.'
      return { code, reason: 'not_verifiable', message }
    }
  }
}

const code = 'invalid_domain'
const waits = true

function explainMissing({ record, mistake, isAuthoritative }: Unverified<'missing'>): string {
  const { name, zone, value } = record
  const request = `add the TXT record ${name} with the value ${value} to its DNS.`
  const cause = mistake ? explainMistake(mistake, record) : explainAbsence(zone, isAuthoritative)
  return `Prove that you control ${quoteDisplayed(zone)}: ${request} ${cause}`
}

function explainMistake(mistake: Mistake, { name, host, zone }: DnsRecord): string {
  switch (mistake.kind) {
    case 'elsewhere': {
      const enter = `enter only "${host}" as its name`
      return mistake.at === `${name}.${zone}`
        ? `The value is at ${mistake.at}: your DNS provider adds "${zone}" by itself, so ${enter}.`
        : `The value is at ${mistake.at}: in the zone ${quoteDisplayed(zone)}, ${enter}.`
    }
    case 'alias':
      return `${name} is an alias (CNAME) of ${quote(mistake.of)}, and nothing can be added beside it: replace it.`
    case 'wildcard':
      return `${quote(mistake.text)} is there, from a record for all names (*.${zone}); add one for this name.`
    case 'other':
      return mistake.count === 1
        ? `There is ${quote(mistake.text)}; add yours beside it.`
        : `There are ${mistake.count} other values, such as ${quote(mistake.text)}; add yours beside them.`
    case 'not_asked':
      return `A record for a name below ${quoteDisplayed(zone)} is looked for at ten names in one call.`
  }
}

const explainAbsence = (zone: string, isAuthoritative: boolean) =>
  isAuthoritative
    ? `The servers of ${quoteDisplayed(zone)} do not have it.`
    : 'If you have just added it, resolvers may remember for some minutes that it was missing.'

function explainUnreachable({ record, at, cause }: Unverified<'unreachable'>): string {
  const { name, zone, value } = record
  const failure = `The DNS of ${quoteDisplayed(zone)} could not be asked for ${at} (${cause.replace(/^E/, '')})`
  const so = at === name ? ', so the record may or may not be there.' : `; ${name} with the value ${value} would do.`
  // A zone whose signatures are wrong, for example, stays so.
  return isLasting(cause) ? `${failure}${so} If this lasts, ask your DNS provider.` : `${failure}${so}`
}

/** The servers answer, and not as they should. */
const isLasting = (cause: string) => ['ESERVFAIL', 'EREFUSED'].includes(cause)
