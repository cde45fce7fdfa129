import { TimeLimitError } from './deadline.ts'
import type { Rule } from './options.ts'

/** A URL that `fetch` can call. It is not shown in messages, because it may hold a password. */
export const httpUrlRule = (example: string): Rule => ({
  holds: isHttpUrl,
  expected: `an http: or https: URL without a user name or password in it, such as "${example}"`,
  isSecret: true,
})

function isHttpUrl(value: unknown): boolean {
  if (typeof value !== 'string' && !(value instanceof URL)) return false
  if (!URL.canParse(value)) return false
  const { protocol, username, password } = new URL(value)
  return /^https?:$/.test(protocol) && username === '' && password === ''
}

/** An answer that was read to its end. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
}

interface Limits {
  readonly fetch?: typeof globalThis.fetch | undefined
  /** Milliseconds for the whole exchange. */
  readonly timeLimit: number
  readonly signal?: AbortSignal | undefined
}

/**
 * Sends a request and reads the answer. A `fetch` that ignores its signal is not waited for.
 *
 * @throws {TimeLimitError} after the time limit.
 * @throws The reason of the signal, once it is aborted.
 */
export async function sendRequest(
  url: string | URL,
  init: RequestInit,
  { fetch = globalThis.fetch, timeLimit, signal }: Limits,
): Promise<Answer> {
  signal?.throwIfAborted()
  const controller = new AbortController()
  const abort = () => controller.abort(signal?.reason)
  signal?.addEventListener('abort', abort, { once: true })
  const timer = setTimeout(
    () => controller.abort(new TimeLimitError(`No answer within ${timeLimit} ms`)),
    Math.ceil(timeLimit),
  )
  const aborted = new Promise<never>((_, reject) => {
    controller.signal.addEventListener('abort', () => reject(controller.signal.reason), { once: true })
  })
  const exchange = async () => {
    // A redirect would turn the POST into a GET, or send the key to another server.
    const response = await fetch(url, { ...init, redirect: 'manual', signal: controller.signal })
    return { status: response.status, headers: response.headers, text: await response.text() }
  }
  try {
    return await Promise.race([exchange(), aborted])
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', abort)
  }
}
