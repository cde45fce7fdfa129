/** A value or a promise of it. A value at hand need not wait for the event loop. */
export type Awaitable<T> = T | PromiseLike<T>
