/** Bytes in a request body where the host sets no limit: 100 hostnames of the longest kind fit. */
export const DEFAULT_BODY_LIMIT = 256 * 1024
