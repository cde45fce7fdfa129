import { defineConfig } from 'vitest/config'

/** The fast tests of the mutated files. There is no global setup, because Stryker starts and ends the processes. */
export default defineConfig({
  test: {
    setupFiles: ['test/mutation/make-what-is-kept.ts'],
    include: [
      'test/{keys,operations,registry,wire}/*.test.ts',
      'test/{http/options,runtime/tracing,sqlite/key-store}.test.ts',
    ],
    // These tests need PostgreSQL.
    exclude: ['test/operations/{limit-race,transfer}.test.ts'],
  },
})
