import { ignoreErrors } from './ignore-errors.ts'
import { toPlainText } from './plain-text.ts'

/** The work that failed. */
interface FailedWork {
  /** A phrase such as `registering names`. */
  readonly step: string
  readonly operation?: string | undefined
  /** The ID of the request, if the framework assigns one. */
  readonly requestId?: string | undefined
  readonly teamId?: string | undefined
  /** How many names were submitted, or how many changes failed. */
  readonly count?: number | undefined
  /** The change that failed: its kind and its `domainId`. */
  readonly change?: string | undefined
}

/** A failure as it is logged: without hostnames, keys, or passwords in URLs. */
export interface FailureRecord extends FailedWork {
  /** The first line of the error and of each of its causes. */
  readonly error: string
  /** The host of the monitor, if a webhook failed. */
  readonly monitor?: string | undefined
  /** The stack, only for the first failure of a kind. */
  readonly stack?: string | undefined
  /** How many failures of the same kind have not been logged since the last record. */
  readonly more?: number | undefined
}

interface FailureLogging {
  /** Writes a record. Default: to the console. */
  readonly write?: (record: FailureRecord) => void
  readonly domain?: string
}

/** For this many milliseconds after a failure is logged, further failures of the same kind are only counted. */
const QUIET = 60_000
/** Once there are this many kinds, all further kinds count as one. */
const MOST_KINDS = 25
/**
 * The maximum length of an error's first line. The number is large enough for a webhook's message, which quotes the
 * monitor's response.
 */
const LONGEST_DESCRIPTION = 255
const MOST_CAUSES = 4
/** The maximum length of an error with its causes. */
const LONGEST_REASON = 2 * LONGEST_DESCRIPTION

/**
 * Creates the function that logs failures if an application sets no `onError`. The first failure of a kind is logged at
 * once, with its stack. Further failures of that kind within the next minute are counted, and logged as one record. Two
 * failures are of the same kind if they occurred in the same step, and their messages differ only in numbers and IDs.
 */
export function createFailureLog() {
  const kinds = new Map<string, { since: number; more: number; writeLast: (more: number) => void }>()

  function end(kind: string): void {
    const counted = kinds.get(kind)
    if (!counted || performance.now() - counted.since < QUIET / 2) return
    kinds.delete(kind)
    if (counted.more === 0) return
    kinds.set(kind, { ...counted, since: performance.now(), more: 0 })
    counted.writeLast(counted.more)
    schedule(kind)
  }

  function schedule(kind: string): void {
    const timer: unknown = setTimeout(end, QUIET, kind)
    if (typeof timer === 'object') (timer as { unref(): void }).unref()
  }

  /** @param domain The hostname of the change that failed. It is not shown. */
  return (failure: unknown, work: FailedWork, { write = writeToConsole, domain }: FailureLogging = {}): void => {
    const { stack, ...description } = describeFailure(failure, domain)
    const record = { ...work, ...description }
    const own = `${work.step} ${record.error.replace(/[0-9a-f-]+/gi, toKindOfWord)}`
    const kind = kinds.has(own) || kinds.size < MOST_KINDS ? own : ''
    const writeLast = (more: number) => ignoreErrors(write)({ ...record, more })
    const counted = kinds.get(kind)
    if (counted) {
      counted.more += 1
      counted.writeLast = writeLast
      // Some runtimes cancel a timer when the request that started it ends. In that case, the next failure logs what
      // the timer would have logged.
      if (performance.now() - counted.since > QUIET) end(kind)
      return
    }
    kinds.set(kind, { since: performance.now(), more: 0, writeLast })
    schedule(kind)
    ignoreErrors(write)({ ...record, stack })
  }
}

/** Writes one line. For the first failure of a kind, adds which page to read, and the stack. */
export function writeToConsole(record: FailureRecord): void {
  const { stack, more } = record
  const end = more ? `, and ${more} more in the last minute` : ''
  const first = stack ? `; see node_modules/domain-registration/docs/runbook.md\n${stack}` : ''
  // biome-ignore lint/suspicious/noConsole: the default destination of an application's log
  console.error(`${new Date().toISOString()} ${describeRecord(record)}${end}${first}`)
}

function describeRecord({ step, operation, requestId, teamId, count, change, error, monitor }: FailureRecord): string {
  const facts = [
    operation,
    requestId && `request ${requestId}`,
    teamId && `team ${teamId}`,
    count !== undefined && `${count} ${count === 1 ? 'name' : 'names'}`,
    change,
    monitor && `monitor ${monitor}`,
  ].filter(Boolean)
  return `domain-registration: ${step} failed${facts.length > 0 ? ` (${facts.join(', ')})` : ''}: ${error}`
}

/**
 * Describes any thrown value in one line. Leaves out keys, secrets, and the user names and passwords of URLs.
 *
 * @param message The message to show. Default: the error's own message.
 */
export function describeError(error: unknown, message?: string): string {
  let text = 'An error that cannot be read'
  try {
    text = error instanceof Error ? [error.name, message ?? error.message].filter(Boolean).join(': ') : String(error)
  } catch {}
  const safe = text
    .replace(/\/\/[^\s/]*@/g, '//')
    .replace(/(_(?:org|team)_\d+_)[\w\-.~+/]+=*|whsec_\S+/g, (_, owner = 'whsec_') => `${owner}…`)
  return toPlainText(safe, LONGEST_DESCRIPTION)
}

/** Describes an error and its causes in one line: their messages and codes. Safe like {@link describeError}. */
export function describeReason(error: unknown): string {
  try {
    return describeCauses(error, message => message).error.slice(0, LONGEST_REASON)
  } catch {
    return describeError(error)
  }
}

/** Returns the first line of a message, without a hostname. */
function readFirstLine(message: string, domain?: string): string {
  const [first = ''] = message.trimStart().split('\n', 1)
  return domain ? first.replaceAll(domain, '…') : first
}

/** Describes an error by its message, or a part of it, and its code. */
function describeWithCode(error: unknown, toPart: (message: string) => string): string {
  if (!(error instanceof Error)) return describeError(error)
  const { code } = error as { readonly code?: unknown }
  const line = describeError(error, toPart(String(error.message)))
  return typeof code === 'string' && !line.includes(code) ? `${line} (${code})` : line
}

/** The error of a webhook. */
interface Monitored {
  readonly monitor?: string | undefined
}

function describeFailure(failure: unknown, domain?: string): Omit<FailureRecord, keyof FailedWork> {
  try {
    return { ...describeCauses(failure, message => readFirstLine(message, domain)), stack: readStack(failure) }
  } catch {
    return { error: describeError(failure) }
  }
}

function describeCauses(failure: unknown, toPart: (message: string) => string) {
  const lines: string[] = []
  let monitor: string | undefined
  let error = failure
  for (let depth = 0; error !== undefined && error !== null && depth <= MOST_CAUSES; depth += 1) {
    const { cause, errors, monitor: host } = (error instanceof Error ? error : {}) as AggregateError & Monitored
    // Skips errors without a message, such as the one that Node throws if every address of a host refuses the
    // connection.
    const saysNothing = errors?.length > 0 && (error as Error).message === ''
    if (!saysNothing) lines.push(describeWithCode(error, toPart))
    monitor ??= host
    error = cause ?? errors?.[0]
  }
  if (lines.length === 0) lines.push(describeError(failure))
  return { error: lines.join('; cause: '), ...(monitor && { monitor }) }
}

/** Replaces numbers and IDs, because they may differ between failures of the same kind. */
const toKindOfWord = (word: string): string => (/\d/.test(word) ? '#' : word)

/** Returns only the frames of the stack, without the message above them. */
const readStack = (failure: unknown): string | undefined =>
  failure instanceof Error
    ? String(failure.stack)
        .split('\n')
        .filter(line => line.trimStart().startsWith('at '))
        .join('\n')
    : undefined
