/**
 * Lets timers, requests and other calls run before long work continues. Promises alone do not do this: with a store
 * that returns at once, the work would block the event loop until it is done.
 */
export const letOthersRun = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 0))
