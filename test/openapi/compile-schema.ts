import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { JsonSchema, OpenApiDocument } from '../../src/openapi/index.ts'

/** Makes a validator of a schema that stands in a document and refers to the document's components. */
export function compileSchema(
  { components }: Pick<OpenApiDocument, 'components'>,
  schema: JsonSchema,
): ValidateFunction {
  const ajv = new Ajv2020({ allErrors: true })
  addFormats.default(ajv)
  // Keywords of OpenAPI, which decide nothing: where to look first in a `oneOf`, and where the references point.
  ajv.addVocabulary(['discriminator', 'components'])
  return ajv.compile({ ...schema, components })
}
