import { expect } from 'vitest'
import { classifyHostname } from '../../src/hostname/classify.ts'
import type { DomainResult } from '../../src/wire/response.ts'
import { covers, type HeldName, isInTheWay } from '../rules/brute-force.ts'
import type { Answer } from './callers.ts'

/** A row of the view `registrations`. */
export interface HeldRow {
  readonly domain: string
  readonly registrable_domain: string
  readonly domain_id: string
  readonly team_id: string
}

/**
 * Compares the responses to callers with the final registrations. There must be exactly the acknowledged registrations,
 * each with its ID. No registration may have been reported as `created` more than once. No two registrations may
 * overlap. For each reported conflict, a conflicting registration must exist.
 */
export function expectAgreement(answers: readonly Answer[], rows: readonly HeldRow[]): void {
  const held = rows.map(toHeldName)
  const told = new Map<string, string>()
  const created = new Set<string>()
  const registered = new Map(rows.map(row => [row.domain, `${row.domain_id} of team ${row.team_id}`]))
  for (const { call, results } of answers) {
    expect(results.map(({ input }) => input)).toEqual(call.domains)
    for (const result of results) {
      if (result.status === 'invalid') {
        expect(isJustified(result, call.teamId, held), `${result.input} of team ${call.teamId}: ${result.code}`).toBe(
          true,
        )
        continue
      }
      const { domain, domainId } = result
      told.set(domain, `${domainId} of team ${call.teamId}`)
      expect(registered.get(domain), domain).toBe(told.get(domain))
      if (result.status === 'existing') continue
      expect(created, 'the names that were created before').not.toContain(domain)
      created.add(domain)
    }
  }
  // Calls were repeated until each name had a result, so the responses must report every registration.
  expect([...told].toSorted()).toEqual([...registered].toSorted())
  expectNoOverlap(held)
}

function expectNoOverlap(held: readonly HeldName[]): void {
  expect(new Set(held.map(({ domain }) => domain)).size).toBe(held.length)
  const covered = held.flatMap(wide =>
    held.flatMap(narrow => (covers(wide, narrow) ? [`${wide.domain} covers ${narrow.domain}`] : [])),
  )
  expect(covered).toEqual([])
}

type Invalid = Extract<DomainResult, { status: 'invalid' }>

/** Nothing is released in these tests, so a conflicting registration still exists at the end. */
function isJustified({ input, code }: Invalid, teamId: string, held: readonly HeldName[]): boolean {
  if (code === 'internal_error') return true
  const name = classifyHostname(input)
  if (!name.valid) return name.code === code
  return held.some(other => isInTheWay(code, name, teamId, other))
}

const toHeldName = (row: HeldRow): HeldName => ({
  domain: row.domain,
  registrableDomain: row.registrable_domain,
  teamId: row.team_id,
})
