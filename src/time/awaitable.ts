/** A value, or a promise of a value. A plain value is available to the caller at once. */
export type Awaitable<T> = T | PromiseLike<T>
