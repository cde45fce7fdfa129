import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** What runs after all else, one file at a time: what measures, may not be starved, or changes the whole process. */
const ALONE = 'test/**/*.alone.test.ts'

export default defineConfig(({ mode }) => {
  // For test/counts.ts. Vitest calls this function again for each project, with another mode, so the first one is kept.
  process.env.COUNTS ??= mode
  return {
    test: {
      globalSetup: ['test/nothing-left.js', 'test/postgres/shared-server.ts'],
      // Much of a run is waiting, for servers and databases.
      maxWorkers: availableParallelism() + 1,
      // A process loads the package, the drivers and the frameworks once, and not for each file of tests.
      isolate: false,
      // The examples import the package by its name; a server and a demo take a moment to start.
      testTimeout: 30_000,
      hookTimeout: 60_000,
      projects: [
        {
          extends: true,
          test: {
            name: 'together',
            include: ['test/**/*.test.ts'],
            // They have runtimes of their own to install first: npm run test:runtimes.
            exclude: ['**/node_modules/**', 'test/runtimes/**', ALONE],
            sequence: { groupOrder: 0 },
          },
        },
        {
          extends: true,
          test: { name: 'alone', include: [ALONE], maxWorkers: 1, sequence: { groupOrder: 1 } },
        },
      ],
    },
  }
})
