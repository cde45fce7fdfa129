import type { HostnameRejection } from '../hostname/classify.ts'
import { isText, matches, type Rule, requireFields } from '../options.ts'
import { baseOf } from '../rules/name.ts'
import { type ImportConflict, judgeImports } from '../rules/overlap.ts'
import type { Registration } from '../rules/registration.ts'
import { isName, readSubmitted } from '../rules/submitted.ts'
import { timeOfUuid } from '../runtime/uuid.ts'
import { type DomainStore, MOST_AT_ONCE } from '../store/contract.ts'
import { readIsoTime } from '../time/iso-time.ts'
import { letOthersRun } from '../time/let-others-run.ts'
import { requireMethod } from './call.ts'
import { createImportRequest } from './create-request.ts'

/** A registration to import: what {@link eachRegistration} yields, or a line of an export. */
export interface RegistrationToImport {
  /** A UUID of version 7, as all bundled stores generate. */
  readonly domainId: string
  readonly domain: string
  /**
   * The registrable domain according to the suffix list at the time of registration. Default: the registrable domain
   * according to today's list.
   */
  readonly registrableDomain?: string | undefined
  /** The ID of the team, which need not exist. */
  readonly teamId: string
  /** A `Date`, or a string as `Date.prototype.toISOString` returns it. */
  readonly createdAt: Date | string
  /** `true` if the monitor already knows the registration. With `false`, the next sweep pushes the registration. */
  readonly synchronized: boolean
}

/** Why a registration was not imported. */
export type ImportRejection = HostnameRejection | ImportConflict | 'invalid_id' | 'invalid_date'

/** A registration that was not imported. */
export interface RejectedImport {
  readonly domainId: string
  readonly domain: string
  readonly teamId: string
  readonly code: ImportRejection
  /** The reason, in words. */
  readonly message: string
}

/** The result of {@link importDomains}. */
export interface ImportResult {
  /** How many registrations were saved. */
  readonly imported: number
  /** How many registrations already existed, with the same ID and team. */
  readonly existing: number
  /** The registrations that were not imported, in the given order. */
  readonly rejected: readonly RejectedImport[]
}

/**
 * Saves registrations from another store, with their IDs, teams and times. Use this function to move to another
 * database. The overlap rules apply to existing and to imported registrations. Limits of teams do not apply.
 *
 * The import saves registrations in parts of 1,000, each part in one atomic step. Only the current part and all
 * rejections are in memory. If the import fails, the earlier parts stay saved. It is safe to repeat an import:
 * registrations with the same ID and team stay as they are. But if names were released after the first import, a
 * repeated import registers them again. So finish the import before teams release names.
 *
 * | code | why |
 * | --- | --- |
 * | codes of {@link classifyHostname} | not a hostname, or its `registrableDomain` is neither the name nor above it |
 * | `invalid_id` | the ID is not a UUID of version 7, or is from the future |
 * | `invalid_date` | the time is before 1970, in the future, or not in the format of `toISOString` |
 * | `domain_has_another_id` | the team has registered it already, with another ID |
 * | `id_is_taken` | another name has this ID, or a release with this ID is pending |
 * | `wildcard_conflict` | a wildcard of the team covers it |
 * | `subdomain_conflict` | the wildcard would cover registered names, of this team or another |
 * | `domain_already_licensed` | another team has registered it, or a wildcard that covers it |
 *
 * Names that today's suffix list no longer allows are also imported.
 *
 * @param store A bundled store, or one that has the method `import`.
 * @throws {TypeError} if the store has no `import`, or if a registration does not have the shape of {@link
 *   RegistrationToImport}. The parts before a malformed registration stay saved.
 * @throws The failure of the store or of `registrations`.
 *
 * @example
 * const { imported, existing, rejected } = await importDomains(store, eachRegistration(otherStore))
 * console.log(imported, existing, rejected) // 3 0 []
 */
export async function importDomains(
  store: DomainStore,
  registrations: AsyncIterable<RegistrationToImport> | Iterable<RegistrationToImport>,
): Promise<ImportResult> {
  requireMethod(store, 'import')
  const total = { imported: 0, existing: 0, rejected: [] as RejectedImport[] }
  let part: RegistrationToImport[] = []
  let count = 0
  for await (const registration of registrations) {
    count += 1
    requireFields(registration, registrationRules, 'property', 'registration to import', ` (registration ${count})`)
    part.push(registration)
    if (part.length < MOST_AT_ONCE) continue
    await importPart(store, part, total)
    part = []
    await letOthersRun()
  }
  if (part.length > 0) await importPart(store, part, total)
  return total
}

const registrationRules = {
  domainId: { holds: isText, expected: 'a string' },
  domain: { holds: isText, expected: 'a string' },
  registrableDomain: { holds: value => value === undefined || isText(value), expected: 'a string' },
  // Rejects NUL and lone surrogates, because PostgreSQL cannot save them.
  teamId: { holds: matches(/^[^\0\p{Cs}]+$/u), expected: 'a non-empty, valid string' },
  createdAt: { holds: value => isText(value) || value instanceof Date, expected: 'a Date or its string' },
  synchronized: { holds: value => typeof value === 'boolean', expected: 'true or false' },
} satisfies Record<keyof RegistrationToImport, Rule>

interface Total {
  imported: number
  existing: number
  readonly rejected: RejectedImport[]
}

async function importPart(store: DomainStore, part: readonly RegistrationToImport[], total: Total): Promise<void> {
  const latest = Date.now() + MOST_AHEAD
  const read = part.map(each => readRow(each, latest))
  const valid = read.filter(isReadable)
  const rows = valid.map(({ row }) => row)
  const todaysDomains = valid.map(({ todaysDomain }) => todaysDomain)
  const found = await requireMethod(store, 'import')(createImportRequest(rows, todaysDomains))
  const verdicts = judgeImports(rows, found).values()
  for (const [index, each] of read.entries()) {
    const verdict = isReadable(each) ? verdicts.next().value : each
    if (verdict === 'imported' || verdict === 'existing') total[verdict] += 1
    else total.rejected.push(toRejected(part[index] as RegistrationToImport, verdict))
  }
}

/** How far the old store's clock may have been ahead of this process's clock, in milliseconds. */
const MOST_AHEAD = 86_400_000

interface Readable {
  readonly row: Registration
  readonly todaysDomain: string
}

interface UnreadableRow {
  readonly code: ImportRejection
  readonly message: string
}

const isReadable = (read: Readable | UnreadableRow): read is Readable => 'row' in read

function readRow(given: RegistrationToImport, latest: number): Readable | UnreadableRow {
  const name = readSubmitted(given.domain)
  if (!isName(name)) return name
  const { domain, registrableDomain: todaysDomain } = name
  const { registrableDomain = todaysDomain, teamId, synchronized } = given
  const base = baseOf(domain)
  if (base !== registrableDomain && !base.endsWith(`.${registrableDomain}`))
    return { code: 'invalid_domain', message: 'The "registrableDomain" is neither the name nor above it.' }
  const domainId = given.domainId.toLowerCase()
  if (!UUID_7.test(domainId) || timeOfUuid(domainId) > latest) return toRejection('invalid_id')
  const createdAt = isText(given.createdAt) ? readIsoTime(given.createdAt) : new Date(given.createdAt)
  const time = Number(createdAt)
  if (!createdAt || !(time >= 0 && time <= latest)) return toRejection('invalid_date')
  return { row: { domainId, domain, registrableDomain, teamId, createdAt, synchronized }, todaysDomain }
}

/** A UUID of version 7 (RFC 9562, section 5.7). */
const UUID_7 = /^[\da-f]{8}-[\da-f]{4}-7[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/

const messages: Readonly<Record<ImportConflict | 'invalid_id' | 'invalid_date', string>> = {
  invalid_id: 'The ID is not a UUID of version 7, or is from the future.',
  invalid_date: 'The time must be a date from 1970 until now, as toISOString writes it.',
  domain_has_another_id: 'The team has registered the name already, with another ID.',
  id_is_taken: 'Another name has this ID, or a release with this ID is pending.',
  wildcard_conflict: 'A wildcard that the team has registered covers the name.',
  subdomain_conflict: 'The wildcard would cover registered names.',
  domain_already_licensed: 'The name overlaps with a registration of another team.',
}

const toRejection = (code: keyof typeof messages): UnreadableRow => ({ code, message: messages[code] })

function toRejected(
  { domainId, domain, teamId }: RegistrationToImport,
  verdict: UnreadableRow | ImportConflict | undefined,
): RejectedImport {
  if (verdict === undefined) throw new TypeError('The store did not return findings for the registrations')
  const { code, message } = typeof verdict === 'string' ? toRejection(verdict) : verdict
  return { domainId, domain, teamId, code, message }
}
