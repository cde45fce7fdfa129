import type { Deadline } from '../deadline.ts'
import type { Below, Registration } from '../registry/store.ts'
import { toArrayLiteral } from './array-literal.ts'
import type { Database, Send, Statement } from './connection.ts'
import { isInRange, type Key, rangeBelow, toDomain } from './path.ts'
import { retryConflicts } from './retry.ts'
import { type BelowRow, COUNTED, type NameRow, type Statements, toOpening, type ZoneRow } from './statements.ts'

/** What a transaction wants to know of the registrable domains that it locks. */
export interface ZoneQuestion {
  /** Distinct, in ascending order of code units. */
  readonly registrableDomains: readonly string[]
  readonly names: readonly Key[]
  readonly bases: readonly Key[]
  /** Whose names below the bases are counted. */
  readonly teamId: string
}

export interface ZoneFindings {
  readonly zones: readonly ZoneRow[]
  readonly names: readonly NameRow[]
  /** One for each of the bases, in that order. */
  readonly below: readonly Below[]
}

/**
 * Locks registrable domains, looks up, and saves: one transaction, made again after a conflict as long as there is
 * time. It takes two round trips where the driver sends without waiting.
 *
 * @param save Sends what is to be saved, without waiting for answers.
 * @param guess Sends what may go out right behind the look-ups; what it resolves to is handed to `save`.
 */
export async function inZones<T>(
  database: Database,
  statements: Statements,
  deadline: Deadline,
  question: ZoneQuestion,
  save: (findings: ZoneFindings, send: Send, guessed: T | undefined) => T,
  guess: (send: Send) => Promise<T | undefined> = async () => undefined,
): Promise<T> {
  return retryConflicts(deadline, () =>
    database.transact(deadline, toOpening(deadline.remaining() * SERVER_SHARE), {
      find: send => Promise.all([lockAndFind(send, statements, question), guess(send)]),
      save: ([findings, guessed], send) => save(findings, send, guessed),
    }),
  )
}

/** Asks one question, and locks nothing. In a transaction for the sake of its settings. */
export const read = <Row>(
  database: Database,
  deadline: Deadline,
  statement: Statement<Row>,
  ...values: readonly unknown[]
): Promise<readonly Row[]> =>
  database.transact(deadline, toOpening(deadline.remaining() * SERVER_SHARE), {
    find: send => send(statement, ...values),
    save: rows => rows,
  })

/** Of the time that is left, so that the server gives up first and the connection can be kept. */
const SERVER_SHARE = 0.9

async function lockAndFind(
  send: Send,
  statements: Statements,
  { registrableDomains, names, bases, teamId }: ZoneQuestion,
): Promise<ZoneFindings> {
  const ranges = bases.map(rangeBelow)
  const namesBelow = names.filter(({ path }) => path !== '')
  const [zones, found, below] = await Promise.all([
    send(statements.lockZones, toArrayLiteral(registrableDomains)),
    namesBelow.length === 0 ? [] : send(statements.findNames, ...toRuns(namesBelow)),
    bases.length === 0
      ? []
      : send(
          statements.findBelow,
          toArrayLiteral(bases.map(base => base.registrableDomain)),
          toArrayLiteral(ranges.map(({ after }) => after)),
          toArrayLiteral(ranges.map(({ before }) => before)),
          teamId,
        ),
  ])
  // What has come since the locks were taken is under none of them.
  const locked = new Set(zones.map(zone => zone.registrable_domain))
  const isLocked = (row: NameRow) => locked.has(row.registrable_domain)
  const isBelowLocked = ({ position }: BelowRow) => locked.has((bases[position - 1] as Key).registrableDomain)
  const standing = zones.filter((zone): zone is ZoneRow & NameRow => zone.domain_id !== null)
  return {
    zones,
    names: [...pickAsked(standing, names), ...found.filter(isLocked)],
    below: addGuests(toBelow(bases, below.filter(isBelowLocked)), bases, teamId, standing),
  }
}

/** Names that are asked for and stand in the rows of their registrable domains, which came with the locks. */
function pickAsked(rows: readonly NameRow[], names: readonly Key[]): NameRow[] {
  if (rows.length === 0) return []
  const asked = new Set(names.map(toText))
  return rows.filter(row => asked.has(toText(nameKeyOf(row))))
}

/** No hostname has a space in it. */
const toText = ({ registrableDomain, path }: Key) => `${path} ${registrableDomain}`

/**
 * Of each run of names in the same registrable domain: that, and the numbers of the first and the last, from 1; then
 * all paths.
 */
function toRuns(keys: readonly Key[]): string[] {
  const zones: string[] = []
  const firsts: number[] = []
  keys.forEach(({ registrableDomain }, index) => {
    if (registrableDomain === zones.at(-1)) return
    zones.push(registrableDomain)
    firsts.push(index + 1)
  })
  const lasts = [...firsts.slice(1).map(first => first - 1), keys.length]
  return [toArrayLiteral(zones), `{${firsts}}`, `{${lasts}}`, toArrayLiteral(keys.map(({ path }) => path))]
}

/** The two columns of the key. */
export const toColumns = (keys: readonly Key[]): [registrableDomains: string, paths: string] => [
  toArrayLiteral(keys.map(({ registrableDomain }) => registrableDomain)),
  toArrayLiteral(keys.map(({ path }) => path)),
]

function toBelow(bases: readonly Key[], rows: readonly BelowRow[]): Below[] {
  const below: Below[] = bases.map(() => NOTHING)
  for (const { position, own_count: ownCount, first, second, third, held } of rows) {
    const index = position - 1
    const { registrableDomain } = bases[index] as Key
    below[index] = {
      ownDomains: [first, second, third].flatMap(path =>
        path === null ? [] : [toDomain({ registrableDomain, path })],
      ),
      ownCount,
      heldByOthers: held && ownCount === 0,
    }
  }
  return below
}

/** Counts what stands in the row of a registrable domain, which is in no index by path. */
function addGuests(
  below: readonly Below[],
  bases: readonly Key[],
  teamId: string,
  rows: readonly NameRow[],
): readonly Below[] {
  if (bases.length === 0) return below
  const guests = new Map(rows.flatMap(row => (row.guest_path === null ? [] : [[row.registrable_domain, row] as const])))
  return below.map((findings, index) => {
    const base = bases[index] as Key
    const guest = guests.get(base.registrableDomain)
    if (!guest || !isInRange(nameKeyOf(guest).path, rangeBelow(base))) return findings
    const { ownDomains, ownCount } = findings
    if (guest.team_id !== teamId) return { ...findings, heldByOthers: ownCount === 0 }
    const { domain } = toRegistration(guest)
    return {
      ownDomains: [...ownDomains, domain].slice(0, 3),
      ownCount: Math.min(ownCount + 1, COUNTED),
      heldByOthers: false,
    }
  })
}

/** What is below a base of a registrable domain that nobody has a name in. */
export const NOTHING: Below = { ownDomains: [], ownCount: 0, heldByOthers: false }

/** Of the name that a row is for, wherever it stands. */
export const nameKeyOf = (row: NameRow): Key => ({
  registrableDomain: row.registrable_domain,
  path: row.guest_path ?? row.path,
})

export function toRegistration(row: NameRow): Registration {
  const key = nameKeyOf(row)
  const { domain_id: domainId, team_id: teamId, synchronized } = row
  return { domainId, domain: toDomain(key), registrableDomain: key.registrableDomain, teamId, synchronized }
}
