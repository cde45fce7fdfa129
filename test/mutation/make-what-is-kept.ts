import '../../src/wire/requests.ts'

/**
 * Stryker tests a mutant only with the tests that ran its code. Schemas are cached, so only the first test that needs a
 * schema would run the code that creates it. This module creates all schemas outside of any test, so their mutants are
 * tested with all tests.
 */
