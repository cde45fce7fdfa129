// What the test of doc comments must find.

export type Bare = string

export const bare = () => {}

/** Does nothing. */
export function withoutExample() {}

/**
 * Does nothing.
 *
 * @example
 * documented()
 */
export function documented() {}
