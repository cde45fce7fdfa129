/** A value, or a promise of one. Nobody has to wait for the event loop to get a plain value. */
export type Awaitable<T> = T | PromiseLike<T>
