import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // Much of a run is waiting, for servers and databases. By default one core is left idle.
    maxWorkers: '100%',
    globalSetup: ['test/nothing-left.js'],
    // They have runtimes of their own to install first: npm run test:runtimes.
    exclude: ['**/node_modules/**', 'test/runtimes/**'],
    // The examples import the package by its name; a server and a demo take a moment to start.
    testTimeout: 30_000,
    // As does a database, several of which start at once.
    hookTimeout: 60_000,
  },
})
