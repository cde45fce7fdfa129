import type { Name } from '../registry/name.ts'
import { type Below, COUNTED_AT_LEAST, NOTHING_BELOW } from '../registry/store.ts'
import { toArrayLiteral } from './array-literal.ts'
import { type Claim, claim, type Owner } from './claim.ts'
import type { Answer } from './database.ts'
import type { BelowRow } from './look-ups.ts'
import { isInRange, type Key, rangeBelow, toDomain, toKey } from './path.ts'
import { type HeadRow, holdsName, isHead, type NameRow, nameKeyOf, toRegistration } from './rows.ts'
import type { LookingTransaction } from './transaction.ts'

/** The look-ups of a transaction in the registrable domains that it claims. */
interface Question extends Partial<Owner> {
  readonly names?: readonly Name[]
  /** The bases below which to look for names. */
  readonly wildcardBases?: readonly Name[]
}

export interface Findings {
  /** The head rows that existed before. */
  readonly heads: readonly HeadRow[]
  /** The claims that inserted a head row. */
  readonly fresh: readonly Claim[]
  /** The rows of the names that were looked up, of any team. */
  readonly names: readonly NameRow[]
  /** One for each of the bases, in that order. */
  readonly below: readonly Below[]
}

/** Claims registrable domains, and looks names up in them. The claims themselves are not found. */
export async function claimAndFind(
  transaction: LookingTransaction,
  claims: readonly Claim[],
  { names = [], wildcardBases = [], teamId = '', lease = null }: Question,
): Promise<Findings> {
  const { send, statements, isPipelined } = transaction
  const claiming = claim(transaction, claims, { teamId, lease })
  // With pipelining the claim goes out now, and the server works on it while the look-ups are made. Without, they would
  // have to wait for its answer, after which they may not be needed.
  if (isPipelined) await undefined
  else if (await insertedAll(claiming, claims)) return toNothing(claims, wildcardBases)
  const keys = names.map(toKey)
  const bases = wildcardBases.map(toKey)
  const finding = send(statements.findNames, ...toLookUps(claims, keys))
  const findingBelow = bases.length > 0 && send(statements.findBelow, ...toRanges(claims, bases, teamId))
  if (await insertedAll(claiming, claims)) return toNothing(claims, bases)
  const { rows } = await finding
  const below = findingBelow ? (await findingBelow).rows : []
  const heads = rows.filter(isHead)
  const standing = heads.filter(holdsName)
  const known = new Set(heads.map(row => row.registrable_domain))
  return {
    heads,
    fresh: claims.filter(({ registrableDomain }) => !known.has(registrableDomain)),
    names: [...pickAsked(standing, keys), ...rows.filter(holdsName).filter(row => !isHead(row))],
    below: addInlined(toBelow(bases, below), bases, teamId, standing),
  }
}

/** Tells whether each claim inserted a head row. Then nothing was held there, and the look-ups are not needed. */
const insertedAll = async (claiming: Promise<Answer>, claims: readonly Claim[]) =>
  (await claiming).rowCount === claims.length

const toNothing = (claims: readonly Claim[], bases: readonly unknown[]): Findings => ({
  heads: [],
  fresh: claims,
  names: [],
  below: bases.map(() => NOTHING_BELOW),
})

/** For each claim the paths to look up, as an array literal: an array of arrays would need equal lengths. */
function toLookUps(claims: readonly Claim[], keys: readonly Key[]): string[] {
  const paths = new Map(claims.map(({ registrableDomain }) => [registrableDomain, [] as string[]]))
  for (const { registrableDomain, path } of keys) if (path !== '') paths.get(registrableDomain)?.push(path)
  return [
    toDomains(claims),
    toArrayLiteral(claims.map(({ domainId }) => domainId)),
    toArrayLiteral(claims.map(({ registrableDomain }) => toArrayLiteral(paths.get(registrableDomain) ?? []))),
  ]
}

const toDomains = (keys: readonly Pick<Key, 'registrableDomain'>[]) =>
  toArrayLiteral(keys.map(({ registrableDomain }) => registrableDomain))

function toRanges(claims: readonly Claim[], bases: readonly Key[], teamId: string): string[] {
  const ids = new Map(claims.map(({ registrableDomain, domainId }) => [registrableDomain, domainId]))
  const ranges = bases.map(rangeBelow)
  return [
    toDomains(bases),
    toArrayLiteral(ranges.map(({ after }) => after)),
    toArrayLiteral(ranges.map(({ before }) => before)),
    teamId,
    toArrayLiteral(bases.map(({ registrableDomain }) => ids.get(registrableDomain) ?? null)),
  ]
}

/** Picks the head rows with a name that was looked up; the others may hold any name. */
function pickAsked(heads: readonly NameRow[], keys: readonly Key[]): NameRow[] {
  if (heads.length === 0) return []
  const asked = new Set(keys.map(toText))
  return heads.filter(head => asked.has(toText(nameKeyOf(head))))
}

/** No registrable domain has a slash in it. */
const toText = ({ registrableDomain, path }: Key) => `${registrableDomain}/${path}`

function toBelow(bases: readonly Key[], rows: readonly BelowRow[]): Below[] {
  const below: Below[] = bases.map(() => NOTHING_BELOW)
  for (const { position, own_count: ownCount, first, second, third, held } of rows) {
    const { registrableDomain } = bases[position - 1] as Key
    const paths = [first, second, third].filter(path => path !== null)
    below[position - 1] = {
      ownDomains: paths.map(path => toDomain({ registrableDomain, path })),
      ownCount,
      heldByOthers: held && ownCount === 0,
    }
  }
  return below
}

/** Adds inlined names, which no index has by path. */
function addInlined(
  below: readonly Below[],
  bases: readonly Key[],
  teamId: string,
  heads: readonly NameRow[],
): readonly Below[] {
  const inlined = new Map(heads.map(head => [head.registrable_domain, head]))
  return below.map((findings, index) => {
    const base = bases[index] as Key
    const head = inlined.get(base.registrableDomain)
    if (!head || !isInRange(nameKeyOf(head).path, rangeBelow(base))) return findings
    const { ownDomains, ownCount } = findings
    if (head.team_id !== teamId) return { ...findings, heldByOthers: ownCount === 0 }
    return {
      ownDomains: [...ownDomains, toRegistration(head).domain].slice(0, 3),
      ownCount: Math.min(ownCount + 1, COUNTED_AT_LEAST),
      heldByOthers: false,
    }
  })
}
