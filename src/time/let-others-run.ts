/**
 * Lets timers, requests and other calls run before long work goes on. Promises alone do not: a store that answers at
 * once would hold the event loop until the work is done.
 */
export const letOthersRun = (): Promise<void> => new Promise(resolve => setTimeout(resolve, 0))
