import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/**
 * Each of these files runs in a process of its own, because it measures or changes its process, as those do that count
 * fake timers, among which late work of other files may start one.
 */
const ALONE = 'test/**/*.alone.test.ts'
/**
 * What runs the examples, the workflows, or whole systems that are killed: no rule of `src` is known only to these files.
 * `npm run test:programs` runs them, and so does `npm run test:long`.
 */
const PROGRAMS = [
  'test/cli/faults.test.ts',
  'test/custom-domains/*.test.ts',
  'test/examples.test.ts',
  'test/postgres/{example,move-table,supabase}.test.ts',
  'test/production/**/*.test.ts',
  'test/whole-system/*.test.ts',
  'test/workflows/*.test.ts',
]

/** Large files mostly wait for servers and time limits, and small ones compute, so both fill the time of each other. */
class LargeAndSmallInTurn extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const large = await super.sort(files)
    const small = large.splice(Math.ceil(large.length / 2)).reverse()
    return large.flatMap((file, index) => [file, ...small.slice(index, index + 1)])
  }
}

export default defineConfig(({ mode }) => {
  // For test/counts.ts. Vitest calls this function again for each project, with another mode; only the first mode is
  // used.
  process.env.COUNTS ??= mode
  // Compiles WebAssembly quickly instead of well, which takes longer than what a short run does with it.
  const execArgv = process.env.COUNTS === 'long' ? [] : ['--liftoff-only']
  return {
    test: {
      globalSetup: ['test/nothing-left.js', 'test/postgres/shared-server.ts'],
      // Tests often wait for servers and databases, so there are two more workers than processors.
      maxWorkers: availableParallelism() + 2,
      // Each process then loads the package, the drivers and the frameworks only once, not once for each test file.
      isolate: false,
      // Most objects of a test are garbage soon: with more room for new ones, a tenth less of processor goes to them.
      execArgv: [...execArgv, '--max-semi-space-size=64'],
      // A second run takes the files that have not changed as they were compiled: a quarter less of a short run.
      experimental: { fsModuleCache: true },
      // Concurrent tests mostly wait for time limits.
      maxConcurrency: 12,
      sequence: { sequencer: LargeAndSmallInTurn },
      // No test is about these limits: they end what hangs. Some long tests take minutes, and more on a busy machine.
      testTimeout: process.env.COUNTS === 'long' ? 1_200_000 : 180_000,
      hookTimeout: 180_000,
      projects: [
        {
          extends: true,
          test: {
            name: 'together',
            include: ['test/**/*.test.ts'],
            // `npm run test:runtimes` installs other runtimes, and runs the tests in test/runtimes with them.
            exclude: ['**/node_modules/**', 'test/runtimes/**', ALONE, ...PROGRAMS],
          },
        },
        {
          extends: true,
          test: { name: 'programs', include: PROGRAMS },
        },
        {
          extends: true,
          test: {
            name: 'alone',
            include: [ALONE],
            execArgv,
            isolate: true,
          },
        },
      ],
    },
  }
})
