/** What holds where the host sets nothing. */

export const DEFAULT_PATH = '/v1/domains'

/** Bytes in a request body: 100 hostnames of the longest kind fit. */
export const DEFAULT_BODY_LIMIT = 256 * 1024

/** Milliseconds for a request body to come. */
export const DEFAULT_BODY_TIME_LIMIT = 10_000
