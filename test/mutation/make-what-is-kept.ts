import { fieldSchemas } from '../../src/wire/fields.ts'

/**
 * Stryker tries a mutant on the tests that ran it. What the first test makes and later ones reuse is made here, outside
 * of any test, so that its mutants are tried on all of them.
 */
fieldSchemas()
