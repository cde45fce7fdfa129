import { toPlainText } from './plain-text.ts'
import { redact } from './redact.ts'

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
/** The maximum length of an ID. */
const LONGEST_ID = 100
/** The maximum length of an error with its causes. */
const LONGEST_REASON = 2 * LONGEST_DESCRIPTION

interface LogOptions {
  /** Writes a record. Default: to the console. */
  readonly write?: (record: FailureRecord) => void
  /** The hostname of the change that failed. It is not shown. */
  readonly domain?: string
}

/**
 * Creates the function that logs failures if an application sets no `onError`. The first failure of a kind is logged at
 * once, with its stack. Further failures of that kind within the next minute are counted, and logged as one record. Two
 * failures are of the same kind if they occurred in the same step, and their messages differ only in numbers and IDs.
 */
export function createFailureLog() {
  const kinds = new Map<string, { since: number; more: number; writeLast: (more: number) => void }>()

  function end(kind: string): void {
    const known = kinds.get(kind)
    if (!known || performance.now() - known.since < QUIET / 2) return
    kinds.delete(kind)
    if (known.more === 0) return
    begin(kind, known.writeLast)
    known.writeLast(known.more)
  }

  function begin(kind: string, writeLast: (more: number) => void): void {
    kinds.set(kind, { since: performance.now(), more: 0, writeLast })
    const timer: unknown = setTimeout(end, QUIET, kind)
    if (typeof timer === 'object') (timer as { unref(): void }).unref()
  }

  return (failure: unknown, work: FailedWork, { write = writeToConsole, domain }: LogOptions = {}): void => {
    const toFirstLine = (text: string) => {
      const [first = ''] = text.trimStart().split('\n', 1)
      return domain ? first.replaceAll(domain, '…') : first
    }
    const { stack, ...described } = describeFailure(failure, toFirstLine)
    const record = { ...work, ...described }
    const own = `${work.step} ${withoutNumbers(record.error)}`
    const kind = kinds.has(own) || kinds.size < MOST_KINDS ? own : ''
    const writeLast = (more: number) => ignoreErrors(write)({ ...record, more })
    const known = kinds.get(kind)
    if (known) {
      known.more += 1
      known.writeLast = writeLast
      // Some runtimes cancel a timer when the request that started it ends. In that case, the next failure logs what
      // the timer would have logged.
      if (performance.now() - known.since > QUIET) end(kind)
      return
    }
    begin(kind, writeLast)
    ignoreErrors(write)({ ...record, stack })
  }
}

/** Writes one line. For the first failure of a kind, adds which page to read, and the stack. */
export function writeToConsole(record: FailureRecord): void {
  const { step, operation, requestId, teamId, count, change, error, monitor, stack, more } = record
  const facts = [
    operation,
    requestId && `request ${toWord(requestId)}`,
    teamId && `team ${toWord(teamId)}`,
    count !== undefined && `${count} ${count === 1 ? 'name' : 'names'}`,
    change,
    monitor && `monitor ${monitor}`,
  ].filter(Boolean)
  const line = `domain-registration: ${step} failed${facts.length > 0 ? ` (${facts.join(', ')})` : ''}: ${error}`
  const end = more ? `, and ${more} more in the last minute` : ''
  const first = stack ? `; see node_modules/domain-registration/docs/runbook.md\n${stack}` : ''
  // biome-ignore lint/suspicious/noConsole: the default destination of an application's log
  console.error(`${new Date().toISOString()} ${line}${end}${first}`)
}

/** Cuts an ID that a caller may have chosen, and replaces what could look like another fact, or control a terminal. */
const toWord = (id: string): string => id.slice(0, LONGEST_ID).replaceAll(/[^\w.:@/+=-]+/g, '?')

/**
 * Makes an application's reporter safe to call: reporting a failure must not cause another failure. Errors that the
 * reporter throws are ignored. If the reporter returns a promise that rejects, the rejection is also ignored: an
 * unhandled rejection would end the process.
 */
export function ignoreErrors<Parameters extends unknown[]>(
  report: ((...parameters: Parameters) => unknown) | undefined,
): (...parameters: Parameters) => void {
  return async (...parameters) => {
    try {
      await report?.(...parameters)
    } catch {}
  }
}

/** Replaces numbers and IDs, because they may differ between failures of the same kind. */
export const withoutNumbers = (text: string): string =>
  text.replace(/[0-9a-f-]+/gi, word => (/\d/.test(word) ? '#' : word))

const toShown = (text: string): string => toPlainText(redact(text), LONGEST_DESCRIPTION)

/**
 * Describes any thrown value in one line. Leaves out keys, secrets, and the user names and passwords of URLs.
 *
 * @param toPart Returns the part of a name or a message to show. Default: all of it.
 */
export function describeError(error: unknown, toPart = (text: string) => text): string {
  let text = 'An error that cannot be read'
  try {
    const message = toPart(String(error instanceof Error ? error.message : error))
    text = error instanceof Error ? [toPart(error.name), message].filter(Boolean).join(': ') : message
  } catch {}
  return toShown(text)
}

/** Describes an error and its causes in one line: their messages and codes. Safe like {@link describeError}. */
export const describeReason = (error: unknown): string => describeFailure(error).error.slice(0, LONGEST_REASON)

/**
 * Yields an error and its causes, of an `AggregateError` the first of its errors. Skips an `AggregateError` without a
 * message, such as the one that Node throws if every address of a host refuses the connection.
 */
export function* causesOf(failure: unknown): Generator<unknown> {
  let error = failure
  for (let depth = 0; error !== undefined && error !== null && depth <= MOST_CAUSES; depth += 1) {
    const { message, cause, errors }: ErrorFields = error instanceof Error ? error : {}
    if (!errors?.length || message !== '') yield error
    error = cause ?? errors?.[0]
  }
}

/** What may be read from an error: some have a code, an `AggregateError` has errors, a webhook's has its monitor. */
type ErrorFields = Partial<AggregateError> & { readonly code?: unknown; readonly monitor?: unknown }

/** @param toPart As for {@link describeError}; also for codes, and lines of the stack. */
function describeFailure(failure: unknown, toPart = (text: string) => text) {
  const lines: string[] = []
  let monitor: string | undefined
  let stack: string | undefined
  try {
    for (const error of causesOf(failure)) {
      const { code, monitor: host }: ErrorFields = error instanceof Error ? error : {}
      const line = describeError(error, toPart)
      lines.push(typeof code === 'string' && !line.includes(code) ? `${line} (${toShown(toPart(code))})` : line)
      if (typeof host === 'string') monitor ??= toShown(host)
    }
    // Only the frames of the stack, without the message above them.
    const frames = failure instanceof Error ? String(failure.stack).split('\n') : undefined
    stack = frames
      ?.filter(line => line.trimStart().startsWith('at '))
      .map(line => `    ${toShown(toPart(line.trimStart()))}`)
      .join('\n')
  } catch {
    // A property of an error may be a getter that throws.
  }
  if (lines.length === 0) lines.push(describeError(failure, toPart))
  return { error: lines.join('; cause: '), ...(monitor && { monitor }), stack }
}
