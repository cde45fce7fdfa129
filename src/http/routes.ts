import type { Operation } from '../operations/call.ts'
import { deleteOperation } from '../operations/delete-domains.ts'
import { exportOperation, listOperation } from '../operations/list-domains.ts'
import { waitingOperation } from '../operations/list-waiting.ts'
import { previewOperation } from '../operations/preview-domains.ts'
import { type RegisterDomainsOptions, registerOperation } from '../operations/register-domains.ts'
import { parseFormat, type Query } from '../wire/requests.ts'
import type {
  DeleteDomainsResponse,
  ListDomainsResponse,
  ListWaitingResponse,
  PreviewDomainsResponse,
  RegisterDomainsResponse,
} from '../wire/results.ts'
import { type Export, exportFormats } from './export.ts'
import type { OperationName } from './request.ts'

type OperationAnswer =
  | RegisterDomainsResponse
  | PreviewDomainsResponse
  | DeleteDomainsResponse
  | ListDomainsResponse
  | ListWaitingResponse

/** The result of an operation. An export is a stream, so its `data` is `null`. */
export type OperationResult =
  | ({ readonly operation: 'create' } & RegisterDomainsResponse)
  | ({ readonly operation: 'preview' } & PreviewDomainsResponse)
  | ({ readonly operation: 'delete' } & DeleteDomainsResponse)
  | ({ readonly operation: 'list' } & ListDomainsResponse)
  | ({ readonly operation: 'waiting' } & ListWaitingResponse)
  | { readonly operation: 'export'; readonly data: null }

/** An operation of the core with its route. It returns the JSON of the response, or an export that has begun. */
export interface HttpOperation extends Operation<OperationAnswer | Export, RegisterDomainsOptions> {
  readonly method: 'POST' | 'GET'
  /** Appended to the path of the API. */
  readonly suffix: '' | '/preview' | '/delete' | '/export' | '/waiting'
}

/** All operations. */
export const operations: Readonly<Record<OperationName, HttpOperation>> = {
  create: { method: 'POST', suffix: '', ...registerOperation },
  preview: { method: 'POST', suffix: '/preview', ...previewOperation },
  delete: { method: 'POST', suffix: '/delete', ...deleteOperation },
  list: { method: 'GET', suffix: '', ...listOperation },
  waiting: { method: 'GET', suffix: '/waiting', ...waitingOperation },
  export: {
    method: 'GET',
    suffix: '/export',
    ...exportOperation,
    async perform(call, deadline) {
      const format = exportFormats[parseFormat(call.input as Query)]
      return { format, pages: await exportOperation.perform(call, deadline) }
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
