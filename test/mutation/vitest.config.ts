import { defineConfig } from 'vitest/config'

/** The fast tests of the mutated files. There is no global setup, because Stryker starts and ends the processes. */
export default defineConfig({
  test: {
    setupFiles: ['test/mutation/make-what-is-kept.ts'],
    include: [
      'test/{keys,registry,wire}/*.test.ts',
      'test/{refusals,register-domains,list-domains}.test.ts',
      'test/{tracing,http/options,sqlite/key-store}.test.ts',
    ],
  },
})
