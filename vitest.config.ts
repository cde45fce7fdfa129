import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/**
 * These files run last, one at a time, each in a process of its own: each measures something, needs a free processor,
 * or changes its process, as those do that count fake timers, among which late work of other files may start one.
 */
const ALONE = 'test/**/*.alone.test.ts'

export default defineConfig(({ mode }) => {
  // For test/counts.ts. Vitest calls this function again for each project, with another mode; only the first mode is
  // used.
  process.env.COUNTS ??= mode
  return {
    test: {
      globalSetup: ['test/nothing-left.js', 'test/postgres/shared-server.ts'],
      // Tests often wait for servers and databases, so there is one more worker than there are processors.
      maxWorkers: availableParallelism() + 1,
      // Each process then loads the package, the drivers and the frameworks only once, not once for each test file.
      isolate: false,
      // Concurrent tests mostly wait for time limits.
      maxConcurrency: 12,
      // Starting a server or an example takes a moment. Some long tests take minutes, and more on a busy machine.
      testTimeout: process.env.COUNTS === 'long' ? 1_200_000 : 60_000,
      hookTimeout: 60_000,
      projects: [
        {
          extends: true,
          test: {
            name: 'together',
            include: ['test/**/*.test.ts'],
            // `npm run test:runtimes` installs other runtimes, and runs the tests in test/runtimes with them.
            exclude: ['**/node_modules/**', 'test/runtimes/**', ALONE],
            sequence: { groupOrder: 0 },
          },
        },
        {
          extends: true,
          test: { name: 'alone', include: [ALONE], isolate: true, maxWorkers: 1, sequence: { groupOrder: 1 } },
        },
      ],
    },
  }
})
