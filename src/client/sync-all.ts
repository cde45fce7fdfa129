import { booleanRule, countRule, optional, type Rules, requireOptions } from '../options.ts'
import { ancestorsOf, wildcardOver } from '../rules/name.ts'
import type { InvalidPreview, InvalidResult } from '../wire/results.ts'
import { type CallOptions, callRules, toSafeText } from './call.ts'
import { CallError, type Failure } from './errors.ts'
import { listAll } from './list-all.ts'
import { deleteAll, type PreviewAllResult, previewAll, registerAll } from './operations.ts'
import type { Names, NamesOptions } from './run.ts'

type SharedOptions = CallOptions & Pick<NamesOptions<unknown>, 'concurrency'>

/** Options of {@link syncAll}. */
export interface SyncAllOptions extends SharedOptions {
  /** Only returns the plan, and changes nothing. Default `false`. */
  dryRun?: boolean | undefined
  /**
   * The largest share of the team's registrations that may be deleted, 0 to 1. Default 0.3. The limit protects against
   * a list that is empty or truncated.
   */
  mostDeletions?: number | undefined
}

/** The changes that {@link syncAll} made or, with `dryRun`, would make. */
export interface SyncPlan {
  /** The wanted names that were not registered, spelled as they were passed. */
  readonly additions: readonly string[]
  /** The registered names that are not wanted. */
  readonly deletions: readonly string[]
  /** How many registrations stay unchanged. */
  readonly unchanged: number
  /**
   * The wanted names that cannot be registered, with the reasons. Without `dryRun`, such a name makes `syncAll` reject.
   */
  readonly refused: readonly InvalidResult[]
}

/**
 * Why {@link syncAll} did not carry out its plan. The `code` is `names_rejected` if names are `refused`,
 * `too_many_deletions`, `domain_limit_reached`, or the code of the call that failed during the changes; that error is
 * then the `cause`.
 *
 * @example
 * if (error instanceof SyncAllError) for (const { input, message } of error.plan.refused) console.error(input, message)
 */
export class SyncAllError extends CallError {
  override readonly name = 'SyncAllError'
  readonly plan: SyncPlan

  constructor(failure: Failure, plan: SyncPlan) {
    super(failure)
    this.plan = plan
  }
}

const syncRules: Rules = {
  ...callRules,
  concurrency: countRule,
  dryRun: booleanRule,
  mostDeletions: {
    holds: optional(share => typeof share === 'number' && share >= 0 && share <= 1),
    expected: 'a share from 0 to 1, such as 0.3',
  },
}

/**
 * Makes the registrations of one team match a list of wanted names, for instance a list under version control. It lists
 * the registrations, compares them with the canonical forms of the wanted names, deletes those that are not wanted, and
 * then registers the missing ones. A name that stays registered keeps its `domainId`.
 *
 * If `syncAll` ends early, call it again with the same names. The service must offer the operations `list`, `preview`
 * and `delete` besides `create`; the key needs the scopes `domains:read`, `domains:create` and `domains:delete`. All
 * names of the team are kept in memory.
 *
 * @param wanted All hostnames that the team should have registered afterwards, in any spelling.
 * @param options `url` is the URL for registering: `https://api.example.com/v1/domains`.
 * @returns The changes that were made or, with `dryRun`, would be made.
 * @throws {SyncAllError} with the plan. Before any change: if a wanted name cannot be registered, if more than
 *   `mostDeletions` would be deleted, or if the team's limit leaves too little room. During the changes: if calls fail,
 *   or if a name is rejected, because another caller has meanwhile registered a conflicting name or used up the limit,
 *   or because a name that conflicts with a deleted registration is also refused for another reason.
 * @throws {CallError} before there is a plan, in the same cases as {@link previewAll} and {@link listAll}.
 * @throws {TypeError} in the same cases as {@link registerAll}.
 *
 * @example
 * const { additions, deletions } = await syncAll(names, { url: 'https://api.example.com/v1/domains', apiKey })
 * console.log(`${additions.length} registered, ${deletions.length} deleted`)
 */
export async function syncAll(wanted: Names, options: SyncAllOptions): Promise<SyncPlan> {
  requireOptions(options, syncRules)
  const { dryRun = false, mostDeletions = 0.3, ...callOptions } = options
  const { room, ...plan } = await makePlan(wanted, callOptions)
  if (dryRun) return plan
  const obstacle = findObstacle(plan, room, mostDeletions, options)
  if (obstacle) throw new SyncAllError({ ...obstacle, message: `${obstacle.message} Nothing was changed.` }, plan)
  const inPart = 'The plan was carried out only in part:'
  let refused: readonly InvalidResult[]
  try {
    await deleteAll(plan.deletions, callOptions)
    const { results } = await registerAll(plan.additions, callOptions)
    refused = results.filter(result => result.status === 'invalid')
  } catch (cause) {
    if (!(cause instanceof CallError)) throw cause
    const { status, code, message } = cause
    throw new SyncAllError({ status, code, message: `${inPart} ${message}`, cause }, plan)
  }
  if (refused.length === 0) return plan
  const message = `${inPart} ${describeRejected(refused, options)}`
  throw new SyncAllError({ code: 'names_rejected', message }, { ...plan, refused })
}

/** Why a plan must not be carried out, if there is a reason. */
function findObstacle(
  { additions, deletions, unchanged, refused }: SyncPlan,
  room: PreviewAllResult['room'],
  mostDeletions: number,
  options: SharedOptions,
): Failure | undefined {
  if (refused.length > 0) return { code: 'names_rejected', message: describeRejected(refused, options) }
  const registered = unchanged + deletions.length
  if (deletions.length > mostDeletions * registered) {
    const message = `${deletions.length} of ${registered} registrations would be deleted, but "mostDeletions" is`
    return { code: 'too_many_deletions', message: `${message} ${mostDeletions}.` }
  }
  if (typeof room !== 'number' || additions.length <= Math.max(0, room + deletions.length)) return undefined
  const message = `The team's limit leaves no room for ${additions.length} more names and ${deletions.length} fewer.`
  return { code: 'domain_limit_reached', message }
}

/** The service's message may repeat a header. If a function made the headers, the name stands in its place. */
function describeRejected([first, ...others]: readonly InvalidResult[], { apiKey, headers }: SharedOptions): string {
  const more = others.length > 0 ? ` Also rejected: ${others.length} more.` : ''
  const { input = '', message = '' } = first ?? {}
  const [text, known] = typeof headers === 'function' ? [`${JSON.stringify(input)}.`] : [message, new Headers(headers)]
  return `A wanted name is rejected: ${toSafeText(text, { apiKey, headers: known })}${more}`
}

/** Lists the registered names before any other step, so names that other callers register later are not deleted. */
async function makePlan(wanted: Names, options: SharedOptions): Promise<SyncPlan & Pick<PreviewAllResult, 'room'>> {
  const { concurrency: _, ...listOptions } = options
  const unwanted = new Set<string>()
  for await (const { domain } of listAll(listOptions)) unwanted.add(domain)
  const registered = unwanted.size
  const { results, room } = await previewAll(wanted, options)
  const additions: string[] = []
  const refused: InvalidResult[] = []
  /** The input of each wanted name, keyed by its canonical form. */
  const inputs = new Map<string, string>()
  for (const result of results) {
    if (result.status === 'invalid' && !isOwnConflict(result)) {
      refused.push(result)
      continue
    }
    const { status, input, domain } = result
    if (status !== 'existing' && !inputs.has(domain)) additions.push(input)
    unwanted.delete(domain)
    inputs.set(domain, input)
  }
  refused.push(...findOverlaps(inputs))
  return { additions, deletions: [...unwanted], unchanged: registered - unwanted.size, refused, room }
}

/** Whether the name conflicts only with registrations of the same team, which may be deleted first. */
const isOwnConflict = (result: InvalidPreview): result is InvalidPreview & { readonly domain: string } =>
  result.domain !== undefined

/** Finds conflicts between wanted names: the service can find them only among the 100 names of one call. */
function findOverlaps(inputs: ReadonlyMap<string, string>): readonly InvalidResult[] {
  const refused: InvalidResult[] = []
  for (const [domain, input] of inputs) {
    const wildcard = ancestorsOf(domain).flatMap(above => inputs.get(wildcardOver(above)) ?? [])[0]
    if (wildcard === undefined) continue
    const message = `${JSON.stringify(input)} is covered by ${JSON.stringify(wildcard)}, which is wanted as well.`
    refused.push({ status: 'invalid', input, code: 'wildcard_conflict', message })
  }
  return refused
}
