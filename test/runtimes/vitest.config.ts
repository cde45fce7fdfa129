import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/runtimes/*.test.ts'],
    globalSetup: ['test/nothing-left.js', 'test/runtimes/package-under-test.ts'],
    // Tests often wait for the process of another runtime, so there are as many workers as processors.
    maxWorkers: availableParallelism(),
    testTimeout: 60_000,
  },
})
