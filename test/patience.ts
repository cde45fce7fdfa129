/**
 * Nearly as long as a test may take, in milliseconds: the time limit of stores whose calls wait for each other. On a
 * busy machine, a process may stand still for longer than the default limit.
 */
export const PATIENCE = 150_000
