import type { KeyContext, Scope } from '../keys/key-context.ts'
import type { CallProgress } from '../operations/call.ts'
import { runDelete } from '../operations/delete-domains.ts'
import { runExport, runList } from '../operations/list-domains.ts'
import { runPreview } from '../operations/preview-domains.ts'
import { type RegisterDomainsOptions, runRegister } from '../operations/register-domains.ts'
import type { DomainStore } from '../store/contract.ts'
import { parseFormat, type Query, takeParameters } from '../wire/query.ts'
import type {
  DeleteDomainsResponse,
  ListDomainsResponse,
  ListedDomain,
  PreviewDomainsResponse,
  RegisterDomainsResponse,
} from '../wire/response.ts'
import { requests } from '../wire/schemas.ts'
import type { OperationName } from './request.ts'
import { type HandlerResponse, respondWithStream } from './response.ts'

/** Everything that an operation needs. */
interface OperationCall {
  readonly keyContext: KeyContext
  /** The parsed body of a POST, or the parameters of a GET. */
  readonly input: unknown
  readonly store: DomainStore
  readonly options: RegisterDomainsOptions
  readonly progress: CallProgress
}

type OperationAnswer = RegisterDomainsResponse | PreviewDomainsResponse | DeleteDomainsResponse | ListDomainsResponse

/** The result of an operation. An export is a stream, so its `data` is `null`. */
export type OperationResult =
  | ({ readonly operation: 'create' } & RegisterDomainsResponse)
  | ({ readonly operation: 'preview' } & PreviewDomainsResponse)
  | ({ readonly operation: 'delete' } & DeleteDomainsResponse)
  | ({ readonly operation: 'list' } & ListDomainsResponse)
  | { readonly operation: 'export'; readonly data: null }

interface HttpOperation {
  readonly method: 'POST' | 'GET'
  /** Appended to the path of the API. */
  readonly suffix: '' | '/preview' | '/delete' | '/export'
  readonly scope: Scope
  /** The optional methods of a store that the operation needs. */
  readonly needs: readonly ('find' | 'release' | 'list')[]
  /** @returns The JSON of the response, or a response that is a stream. */
  run(call: OperationCall): Promise<OperationAnswer | HandlerResponse>
}

/** All operations, each with its route, its scope, and the function of the core that performs the operation. */
export const operations: Readonly<Record<OperationName, HttpOperation>> = {
  create: {
    method: 'POST',
    suffix: '',
    scope: 'domains:create',
    needs: [],
    run: ({ keyContext, input, store, options, progress }) => runRegister(keyContext, input, store, options, progress),
  },
  preview: {
    method: 'POST',
    suffix: '/preview',
    scope: 'domains:create',
    needs: ['find'],
    run: ({ keyContext, input, store, options: { timeLimit }, progress }) =>
      runPreview(keyContext, input, store, { timeLimit }, progress),
  },
  delete: {
    method: 'POST',
    suffix: '/delete',
    scope: 'domains:delete',
    needs: ['release'],
    run: ({ keyContext, input, store, options: { timeLimit }, progress }) =>
      runDelete(keyContext, input, store, { timeLimit }, progress),
  },
  list: {
    method: 'GET',
    suffix: '',
    scope: 'domains:read',
    needs: ['list'],
    run: ({ keyContext, input, store, options: { timeLimit }, progress }) =>
      runList(keyContext, takeParameters(input as Query, requests.list), store, { timeLimit }, progress),
  },
  export: {
    method: 'GET',
    suffix: '/export',
    scope: 'domains:read',
    needs: ['list'],
    async run({ keyContext, input, store, options: { timeLimit }, progress }) {
      const format = formats[parseFormat(input as Query)]
      const query = takeParameters(input as Query, requests.export)
      const pages = await runExport(keyContext, query, store, { timeLimit }, progress)
      return respondWithStream(format.contentType, write(pages, format))
    },
  },
}

export const operationNames = Object.keys(operations) as readonly OperationName[]

const formats = {
  /**
   * RFC 4180. No value needs quotation marks, and no spreadsheet reads a value as a formula: names begin with a letter,
   * a digit or `*`.
   */
  csv: {
    contentType: 'text/csv; charset=utf-8; header=present',
    head: 'domain,domainId,createdAt\r\n',
    toLine: ({ domain, domainId, createdAt }: ListedDomain) => `${domain},${domainId},${createdAt}\r\n`,
  },
  ndjson: {
    contentType: 'application/x-ndjson; charset=utf-8',
    head: '',
    toLine: (listed: ListedDomain) => `${JSON.stringify(listed)}\n`,
  },
} as const

/** Converts each page to one string, so that no array of registrations stays in memory while the caller reads. */
async function* write(
  pages: AsyncIterator<readonly ListedDomain[], void>,
  { head, toLine }: (typeof formats)[keyof typeof formats],
): AsyncGenerator<string, void> {
  async function toText(): Promise<string> {
    const { done, value } = await pages.next()
    return done ? '' : value.map(toLine).join('')
  }
  try {
    if (head !== '') yield head
    for (let text = await toText(); text !== ''; text = await toText()) yield text
  } finally {
    await pages.return?.()
  }
}

/**
 * Finds the operation of a request among those that are offered.
 *
 * @param path The path of the API.
 * @param requested The requested path, without a trailing slash.
 */
export const findOperation = (
  offered: readonly OperationName[],
  path: string,
  method: string,
  requested: string,
): OperationName | undefined =>
  offered.find(name => operations[name].method === method && `${path}${operations[name].suffix}` === requested)
