/** A value, or a promise of it: what is at hand need not wait for a turn of the event loop. */
export type Awaitable<T> = T | PromiseLike<T>
