import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonSchema, OpenApiDocument } from '../../src/openapi/index.ts'

const ajv = new Ajv2020({ allErrors: true })
addFormats.default(ajv)
// Keywords of OpenAPI that do not affect validation: a hint for `oneOf`, and the components to which schemas refer.
ajv.addVocabulary(['discriminator', 'components'])

/** The validators of a document, by schema: many responses share one. */
const compiled = new WeakMap<object, Map<string, ValidateFunction>>()

/** Compiles a schema into a validator. The schema may refer to the components of its document. */
export function compileSchema(
  { components }: Pick<OpenApiDocument, 'components'>,
  schema: JsonSchema,
): ValidateFunction {
  const known = compiled.get(components) ?? new Map<string, ValidateFunction>()
  compiled.set(components, known)
  const text = JSON.stringify(schema)
  const validate = known.get(text) ?? ajv.compile({ ...schema, components })
  known.set(text, validate)
  return validate
}
