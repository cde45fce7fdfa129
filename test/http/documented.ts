import { expect } from 'vitest'
import type { OperationName } from '../../src/http/request.ts'
import { type OpenApiResponse, openapi } from '../../src/openapi/index.ts'
import { compileSchema } from '../openapi/compile-schema.ts'

const document = openapi({ operations: ['create', 'preview', 'delete', 'list', 'export', 'waiting'] })
const paths = document.paths

/** The schemas of an operation's responses in the OpenAPI document, by status, compiled to validators. */
const toAnswers = ({ responses }: { readonly responses: Readonly<Record<number, OpenApiResponse<object>>> }) =>
  new Map(
    Object.entries(responses).map(([status, { headers, content }]) => [
      Number(status),
      {
        fields: new Map(
          Object.entries(headers).map(([name, { required = false, schema }]) => [
            name,
            { required, isInteger: schema.type === 'integer', validate: compileSchema(document, schema) },
          ]),
        ),
        bodies: new Map(
          Object.entries(content).map(([mediaType, { schema }]) => [mediaType, compileSchema(document, schema)]),
        ),
        codes: Object.values(content).flatMap(({ examples }) => Object.keys(examples)),
      },
    ]),
  )

const answersOf = {
  create: toAnswers(paths['/v1/domains'].post),
  preview: toAnswers(paths['/v1/domains/preview'].post),
  delete: toAnswers(paths['/v1/domains/delete'].post),
  list: toAnswers(paths['/v1/domains'].get),
  waiting: toAnswers(paths['/v1/domains/waiting'].get),
  export: toAnswers(paths['/v1/domains/export'].get),
}

/**
 * All headers that the document lists. A response may have one of these headers only if the document lists it for the
 * operation and the response's status.
 */
const knownFields = new Set(
  Object.values(answersOf).flatMap(answers => [...answers.values()].flatMap(({ fields }) => [...fields.keys()])),
)

/**
 * Lists how a response differs from the OpenAPI document: in its status, content type, headers and body. The caller can
 * still read the body.
 */
export async function findUndocumented(response: Response, operation: OperationName = 'create'): Promise<string[]> {
  const answer = answersOf[operation].get(response.status)
  if (!answer) return [`the status ${response.status} is not documented`]

  const faults: string[] = []
  for (const name of knownFields) {
    const value = response.headers.get(name)
    const field = answer.fields.get(name)
    if (value === null) {
      if (field?.required) faults.push(`the header ${name} is missing`)
    } else if (!field) {
      faults.push(`the header ${name} is not documented for ${response.status}`)
    } else if (!field.validate(field.isInteger && /^[0-9]+$/.test(value) ? Number(value) : value)) {
      faults.push(`the header ${name} is ${JSON.stringify(value)}`)
    }
  }

  const [mediaType = ''] = (response.headers.get('Content-Type') ?? '').split(';')
  const validate = answer.bodies.get(mediaType)
  if (!validate) return [...faults, `the content type "${mediaType}" is not documented`]
  const text = await response.clone().text()
  const body = mediaType === 'application/json' ? JSON.parse(text) : text
  if (response.status >= 400 && !answer.codes.includes(body?.error)) {
    faults.push(`the code ${body?.error} is not documented for ${response.status}`)
  }
  if (!validate(body)) {
    faults.push(...(validate.errors ?? []).map(({ instancePath, message }) => `the body: ${instancePath} ${message}`))
  }
  return faults
}

/** Fails the test if a response differs from the OpenAPI document. */
export async function expectDocumented(response: Response, operation?: OperationName): Promise<void> {
  expect(
    await findUndocumented(response, operation),
    `${response.status} as the OpenAPI document describes it`,
  ).toEqual([])
}
