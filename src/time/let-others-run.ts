/**
 * Lets timers, requests and other calls run before long work continues. Promises alone do not: a store that returns at
 * once would block the event loop until the work is done.
 */
export const letOthersRun = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 0))
