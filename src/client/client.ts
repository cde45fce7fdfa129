export type { RegisterDomainsRequest } from '../wire/request.ts'
export type {
  DomainResult,
  ErrorResponse,
  InvalidCode,
  InvalidResult,
  RegisterDomainsResponse,
  RegisteredResult,
  Totals,
} from '../wire/response.ts'
export { CallError, type CallOptions } from './call.ts'
export {
  type Progress,
  RegisterAllError,
  type RegisterAllOptions,
  type RegisterAllResult,
  registerAll,
} from './register-all.ts'
