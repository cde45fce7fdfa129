import type { Scope } from '../keys/key-context.ts'
import type { OperationCall } from '../operations/call.ts'
import { runDelete } from '../operations/delete-domains.ts'
import { runExport, runList } from '../operations/list-domains.ts'
import { runPreview } from '../operations/preview-domains.ts'
import { type RegisterDomainsOptions, runRegister } from '../operations/register-domains.ts'
import { parseFormat, type Query } from '../wire/requests.ts'
import type {
  DeleteDomainsResponse,
  ListDomainsResponse,
  PreviewDomainsResponse,
  RegisterDomainsResponse,
} from '../wire/response.ts'
import { type Export, exportFormats } from './export.ts'
import type { OperationName } from './request.ts'

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
  run(call: OperationCall<RegisterDomainsOptions>): Promise<OperationAnswer | Export>
}

/** All operations, each with its route, its scope, and the function of the core that performs the operation. */
export const operations: Readonly<Record<OperationName, HttpOperation>> = {
  create: {
    method: 'POST',
    suffix: '',
    scope: 'domains:create',
    needs: [],
    run: runRegister,
  },
  preview: {
    method: 'POST',
    suffix: '/preview',
    scope: 'domains:create',
    needs: ['find'],
    run: runPreview,
  },
  delete: {
    method: 'POST',
    suffix: '/delete',
    scope: 'domains:delete',
    needs: ['release'],
    run: runDelete,
  },
  list: {
    method: 'GET',
    suffix: '',
    scope: 'domains:read',
    needs: ['list'],
    run: runList,
  },
  export: {
    method: 'GET',
    suffix: '/export',
    scope: 'domains:read',
    needs: ['list'],
    async run(call) {
      const format = exportFormats[parseFormat(call.input as Query)]
      return { format, pages: await runExport(call) }
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
