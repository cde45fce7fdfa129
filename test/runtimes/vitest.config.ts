import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/runtimes/*.test.ts'],
    globalSetup: ['test/nothing-left.js', 'test/runtimes/package-under-test.ts'],
    testTimeout: 30_000,
  },
})
