/** A value, or a promise of a value. A caller gets a plain value without waiting for the event loop. */
export type Awaitable<T> = T | PromiseLike<T>
