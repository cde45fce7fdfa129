import type { DomainResult, RegisterDomainsResponse } from '../wire/response.ts'

/** The result of sending a call once. */
export type Attempt = { readonly results: readonly DomainResult[] } | { readonly failure: CallFailure }

export interface CallFailure {
  readonly status?: number | undefined
  readonly code?: string | undefined
  readonly message: string
  /** Whether the same call may succeed later. */
  readonly mayPass: boolean
  /** Milliseconds to wait before the next attempt, if the answer says so. */
  readonly retryAfter?: number | undefined
  readonly cause?: unknown
}

/** @param body The parsed body; `undefined` if it is not JSON, for instance because it was cut short. */
export function toAttempt({ status, headers }: Response, body: unknown, expected: number): Attempt {
  if (status === 200) {
    const results = (body as RegisterDomainsResponse | undefined)?.data?.results
    if (Array.isArray(results) && results.length === expected) return { results }
    return { failure: { status, message: 'The answer is not whole, or not of this operation.', mayPass: true } }
  }
  const { error, message } = (body ?? {}) as { error?: unknown; message?: unknown }
  return {
    failure: {
      status,
      code: typeof error === 'string' ? error : undefined,
      message: typeof message === 'string' ? message : `The answer was HTTP ${status}.`,
      mayPass: status === 408 || status === 429 || status >= 500,
      retryAfter: toMilliseconds(headers.get('Retry-After')),
    },
  }
}

/** RFC 9110, section 10.2.3: seconds, or a date. */
function toMilliseconds(value: string | null): number | undefined {
  if (value === null) return undefined
  const milliseconds = /^[0-9]+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(milliseconds) ? undefined : Math.min(2 ** 31 - 1, Math.max(0, milliseconds))
}
