import { toTables } from '../../src/postgres/schema.ts'
import { createStatements, type Statements } from '../../src/postgres/statements.ts'

const id = "'00000000-0000-7000-8000-000000000001'"
const domains = "'{a.com,b.com}'"
const ids = "'{00000000-0000-7000-8000-000000000001,00000000-0000-7000-8000-000000000002}'"
const twoRows = (path: string) => ["'1'", "'60000 ms'", domains, `'{${path},${path}}'`, ids]

/** Parameters for each, as SQL. A statement without does not compile. */
export const parameters: Readonly<Record<keyof Statements, readonly string[]>> = {
  claim: twoRows('.www'),
  insert: twoRows('.new'),
  occupy: twoRows('""'),
  findNames: [domains, ids, '\'{"{.www,.*}","{.b.*}"}\''],
  findBelow: ["'{crowd.com}'", "'{.}'", "'{/}'", "'2'", "'{00000000-0000-7000-8000-000000000001}'"],
  moveOut: [domains, ids],
  vacateHeads: [domains, ids],
  deleteNames: [domains, "'{.www,.www}'", ids],
  copyName: ["'a.com'", "'.www'", id, "'b.com'", "'.new'"],
  copyIntoHead: ["'a.com'", "'.www'", id, "'b.com'", "''"],
  findDueNames: ['1000'],
  findDueReleases: ['1000'],
  leaseNames: [domains, "'{.www,.www}'", ids, "'60000 ms'", "'0 ms'"],
  leaseReleases: [domains, ids, "'60000 ms'"],
  postponeNames: [domains, "'{.www,.www}'", ids, "'{5,5}'", "'{0,1}'", "'{NULL,1700000000.123456}'", "'60000 ms'"],
  postponeReleases: [domains, ids, "'{0,5}'", "'{0,1}'", "'{1700000000.123456,1700000000.123456}'"],
  finishNames: [domains, "'{.www,.www}'", ids],
  hastenReleases: [domains, ids],
  addReleases: [domains, "'{.www,.www}'", ids, "'60000 ms'"],
  deleteReleases: [domains, ids],
  countDueNames: [],
  countReleases: [],
  listAll: [id, '1000'],
  listTeam: [id, '1000', "'1'"],
  walk: ["'a.com'", "'.www'", '1000'],
}

const statements = createStatements(toTables({}))
export const names = Object.keys(statements) as (keyof Statements)[]

export const textOf = (name: keyof Statements) => statements[name].text

/** How a prepared statement is given its parameters. */
export const toArguments = (name: keyof Statements) =>
  parameters[name].length === 0 ? '' : ` (${parameters[name].join(', ')})`

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
