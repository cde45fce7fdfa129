/** The defaults of the options. */

export const DEFAULT_PATH = '/v1/domains'

/** Bytes in a request body: 100 hostnames of the greatest length fit. */
export const DEFAULT_BODY_LIMIT = 256 * 1024

/** Milliseconds until the request body must have arrived. */
export const DEFAULT_BODY_TIME_LIMIT = 10_000
