/**
 * Mutation testing of the rules: `npm run test:mutation`. */
export default {
  mutate: [
    'src/rules/{overlap,request}.ts',
    'src/operations/register-names.ts',
    'src/operations/register-domains.ts',
    'src/{keys,wire}/*.ts',
  ],
  // The files that the tests need. biome.json is left out, because Biome rejects a second one.
  ignorePatterns: ['/*', '!/src', '!/test', '!/dist', '!/examples', '!/package.json', '!/tsconfig.json'],
  testRunner: 'vitest',
  vitest: { configFile: 'test/mutation/vitest.config.ts' },
  plugins: ['@stryker-mutator/vitest-runner'],
  concurrency: 2,
  reporters: ['clear-text', 'progress-append-only'],
  clearTextReporter: { allowColor: false, logTests: false, reportTests: false },
  thresholds: { break: 95 },
  warnings: { slow: false },
  incrementalFile: 'node_modules/.cache/stryker.json',
  tempDirName: '.stryker-tmp',
}
