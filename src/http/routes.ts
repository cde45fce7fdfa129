import type { KeyContext, Scope } from '../keys/key-context.ts'
import type { CallProgress } from '../operations/call.ts'
import { runDelete } from '../operations/delete-domains.ts'
import { runExport, runList } from '../operations/list-domains.ts'
import { runPreview } from '../operations/preview-domains.ts'
import { type RegisterDomainsOptions, runRegister } from '../operations/register-domains.ts'
import type { DomainStore } from '../store/contract.ts'
import { parseFormat, type Query, requests, takeParameters } from '../wire/requests.ts'
import type {
  DeleteDomainsResponse,
  ListDomainsResponse,
  PreviewDomainsResponse,
  RegisterDomainsResponse,
} from '../wire/response.ts'
import { type Export, exportFormats } from './export.ts'
import type { OperationName } from './request.ts'

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

export interface HttpOperation {
  readonly method: 'POST' | 'GET'
  /** Appended to the path of the API. */
  readonly suffix: '' | '/preview' | '/delete' | '/export'
  readonly scope: Scope
  /** The optional methods of a store that the operation needs. */
  readonly needs: readonly ('find' | 'release' | 'list')[]
  /** @returns The JSON of the response, or an export that has begun. */
  run(call: OperationCall): Promise<OperationAnswer | Export>
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
    run: ({ keyContext, input, store, options: { timeLimit, checkNames }, progress }) =>
      runPreview(keyContext, input, store, { timeLimit, checkNames }, progress),
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
      const format = exportFormats[parseFormat(input as Query)]
      const query = takeParameters(input as Query, requests.export)
      return { format, pages: await runExport(keyContext, query, store, { timeLimit }, progress) }
    },
  },
}

export const operationNames = Object.keys(operations) as readonly OperationName[]

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
