import { fieldSchemas } from '../../src/wire/fields.ts'

/**
 * Stryker tests a mutant with the tests that ran its code. This creates the cached schemas outside of any test, so
 * their mutants are tested with all tests, not only with the first one that needs them.
 */
fieldSchemas()
