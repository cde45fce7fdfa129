/** What holds where the host sets nothing. */

export const DEFAULT_PATH = '/v1/domains'

/** Bytes in a request body: 100 hostnames of the longest kind fit. */
export const DEFAULT_BODY_LIMIT = 256 * 1024

/** Milliseconds for a request body to come. */
export const DEFAULT_BODY_TIME_LIMIT = 10_000

/** Milliseconds that a call may wait for what the host brings: its key store, its limiter, its store. */
export const DEFAULT_TIME_LIMIT = 30_000
