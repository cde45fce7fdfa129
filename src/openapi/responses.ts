import { type ErrorCode, statusByErrorCode } from '../errors.ts'
import type { DomainResult, RegisterDomainsResponse, RegisteredResult } from '../wire/response.ts'
import { countTotals } from '../wire/response.ts'
import type { Example, Header, Response } from './document.ts'
import { describeErrors, type ErrorDescription } from './errors.ts'
import { type HeaderName, headers } from './headers.ts'
import { exampleOf, invalidCodeNames, invalidCodes } from './invalid-codes.ts'
import { errorSchema, list, referenceTo } from './schemas.ts'

export interface ResponseOptions {
  bodyLimit: number
  rateLimited: boolean
}

/** Describes every answer of a call, by status. */
export function describeResponses(options: ResponseOptions): Record<string, Response> {
  const errors = describeErrors(options)
  const codesByStatus = new Map<number, ErrorCode[]>()
  for (const [code, status] of Object.entries(statusByErrorCode) as [ErrorCode, number][]) {
    if (code === 'too_many_requests' && !options.rateLimited) continue
    codesByStatus.set(status, [...(codesByStatus.get(status) ?? []), code])
  }
  return {
    200: success(options),
    ...Object.fromEntries(
      [...codesByStatus].map(([status, codes]) => [
        status,
        {
          description: list(codes, code => errors[code].meaning),
          headers: headersOf(
            codes.map(code => errors[code]),
            options,
          ),
          content: {
            'application/json': {
              schema: errorSchema(codes),
              examples: Object.fromEntries(
                codes.map(code => [code, { value: { error: code, message: errors[code].message } }]),
              ),
            },
          },
        },
      ]),
    ),
  }
}

function success(options: ResponseOptions): Response {
  return {
    description:
      'One result for each submitted hostname, in the submitted order; also when every result is `invalid`. ' +
      'The fields named here are all that there are.',
    headers: headersOf([{ headers: [] }], options),
    content: {
      'application/json': { schema: { $ref: referenceTo('RegisterDomainsResponse') }, examples: describeExamples() },
    },
  }
}

/** A field is required if every answer of the status carries it. */
function headersOf(
  answers: readonly Pick<ErrorDescription, 'headers' | 'beforeRateLimit'>[],
  { rateLimited }: ResponseOptions,
): Record<string, Header> {
  const carried = new Set(answers.flatMap(answer => answer.headers))
  const required = (name: HeaderName) => answers.every(answer => answer.headers.includes(name))
  const tellsRateLimit = rateLimited && answers.some(answer => !answer.beforeRateLimit)
  const names = new Set<HeaderName>([...carried, ...(tellsRateLimit ? rateLimitHeaders : [])])
  return {
    'Cache-Control': { ...headers['Cache-Control'], required: true },
    ...Object.fromEntries(
      [...names].map((name): [string, Header] => [
        name,
        required(name) ? { ...headers[name], required: true } : headers[name],
      ]),
    ),
  }
}

const rateLimitHeaders = ['RateLimit-Policy', 'RateLimit'] as const

const created: RegisteredResult[] = [
  {
    status: 'created',
    input: 'www.example.com',
    domain: 'www.example.com',
    domainId: '01a1fdc4-24dc-7291-9bdf-caca67ce70da',
  },
  {
    status: 'created',
    input: '*.example.org',
    domain: '*.example.org',
    domainId: '01a1fdc4-24dc-7292-b189-85cd429aab1c',
  },
]

/** Answers to the example of a request, to the same call again, and to a hostname for each code. */
function describeExamples(): Record<string, Example> {
  const refused = exampleOf('internal_domain')
  const existing = created.map(result => ({ ...result, status: 'existing' as const }))
  const invalid = invalidCodeNames.map(code => [
    code,
    { summary: invalidCodes[code].meaning, value: answer([exampleOf(code)]) },
  ])
  return {
    created: { summary: 'Two hostnames registered, one refused', value: answer([...created, refused]) },
    existing: { summary: 'The same call again', value: answer([...existing, refused]) },
    ...Object.fromEntries(invalid),
  }
}

function answer(results: DomainResult[]): RegisterDomainsResponse {
  return { data: { results, totals: countTotals(results) } }
}
