/**
 * Lets timers, requests and other calls run before long work continues. Awaiting a promise is not enough: if a store
 * returns at once, the work would block the event loop until it is done.
 */
export const letOthersRun = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 0))
