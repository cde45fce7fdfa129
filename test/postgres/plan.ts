import type { Statements } from '../../src/postgres/statements.ts'

const zones = "'{a.com,b.com}'"
const paths = '\'{www,""}\''
const guests = '\'{"",www}\''
const ids = "'{00000000-0000-7000-8000-000000000001,00000000-0000-7000-8000-000000000002}'"

const id = "'00000000-0000-7000-8000-000000000001'"

/** Parameters for each, as SQL. A statement without does not compile. */
export const parameters: Readonly<Record<keyof Statements, readonly string[]>> = {
  lockZones: [zones],
  findNames: [zones, "'{1,3}'", "'{2,5}'", "'{www,*,b.a,b.*,*}'"],
  findBelow: ["'{crowd.com}'", '\'{""}\'', "'{\u{10ffff}}'", "'2'"],
  insertNames: [zones, paths, guests, ids, "'1'", 'true', "'{}'", 'false'],
  moveGuestsOut: [zones],
  occupyZones: [zones, ids, "'1'", 'true'],
  markCrowds: [zones],
  markSynchronized: [zones, paths, ids],
  findPending: ['1000'],
  deleteName: ["'a.com'", "'www'", id],
  vacateZone: ["'a.com'", id],
  copyName: ["'a.com'", "'www'", "'b.com'", "'new'", "''", 'false'],
  copyIntoZone: ["'a.com'", "'www'", "'b.com'", "'www'", "''", 'false'],
  walk: ["'a.com'", "'www'", '1000'],
}

export interface Plan {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Index Name'?: string
  readonly 'Index Cond'?: string
  readonly 'Actual Rows'?: number
  readonly 'Actual Loops'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly Plans?: readonly Plan[]
}

/** A plan and all that is in it. */
export const flatten = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(flatten)]
