import { type ConflictCode, covers, judge } from './overlap.ts'
import { createHoldings, createLookUp, findBases } from './request.ts'
import type { ImportFindings, ImportRequest, ListedRegistration, Registration } from './store.ts'

/** Why a registration cannot be imported: it conflicts with registrations in the store. */
export type ImportConflict = ConflictCode | 'id_is_taken' | 'domain_has_another_id'

/** The verdict on a registration to import. */
export type ImportVerdict = 'imported' | 'existing' | ImportConflict

/**
 * Passed as the ID of the calling team, although no team has this ID: an import contains registrations of several
 * teams, none of which makes the call.
 */
const NOBODY = ''

/**
 * @param rows At most 1,000 registrations, with canonical names.
 * @param todaysDomains The registrable domains of these names according to today's suffix list. Calls lock these
 *   domains.
 */
export const createImportRequest = (
  rows: readonly ListedRegistration[],
  todaysDomains: readonly string[],
): ImportRequest => ({
  ...createLookUp(NOBODY, rows),
  registrableDomains: [
    ...new Set([...todaysDomains, ...rows.map(({ registrableDomain }) => registrableDomain)]),
  ].sort(),
  domainIds: [...new Set(rows.map(({ domainId }) => domainId))],
  decide(found) {
    const verdicts = judgeImports(rows, found)
    return rows.filter((_, index) => verdicts[index] === 'imported')
  },
})

/**
 * Judges registrations one after another, as if the earlier ones were already saved.
 *
 * @returns One verdict for each registration, in the same order.
 */
export function judgeImports(rows: readonly ListedRegistration[], found: ImportFindings): readonly ImportVerdict[] {
  const held = new Map<string, Registration>(found.registrations.map(each => [each.domain, each]))
  const takenIds = new Set(found.takenIds)
  const holdings = createHoldings(NOBODY, findBases(rows), found)

  function judgeOne(row: ListedRegistration): ImportVerdict {
    const same = held.get(row.domain)
    if (same && same.teamId !== row.teamId) return 'domain_already_licensed'
    if (same) return same.domainId === row.domainId ? 'existing' : 'domain_has_another_id'
    if (takenIds.has(row.domainId)) return 'id_is_taken'
    const wildcard = holdings.wildcardsAbove(row).find(({ domain }) => covers(domain, row))
    if (wildcard) return wildcard.teamId === row.teamId ? 'wildcard_conflict' : 'domain_already_licensed'
    return judge(row, NOBODY, holdings).status === 'created' ? 'imported' : 'subdomain_conflict'
  }

  return rows.map(row => {
    const verdict = judgeOne(row)
    if (verdict === 'imported') {
      held.set(row.domain, row)
      takenIds.add(row.domainId)
      holdings.add(row, row.teamId)
    }
    return verdict
  })
}
