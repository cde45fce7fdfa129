/** A value or a promise of it. A plain value need not wait for the event loop. */
export type Awaitable<T> = T | PromiseLike<T>
