/** Mutation testing of the rules: `npm run test:mutation`. Tests of SQL stores hold the columns of key-row.ts. */
export default {
  mutate: [
    'src/registry/{overlap,register-names,request}.ts',
    'src/operations/register-domains.ts',
    'src/{keys,wire}/*.ts',
    '!src/keys/key-row.ts',
  ],
  // What the tests need, and no second biome.json.
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
