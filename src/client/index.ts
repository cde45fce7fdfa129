export type { RegisterDomainsRequest } from '../wire/requests.ts'
export type {
  DeleteResult,
  DomainResult,
  ErrorResponse,
  InvalidCode,
  InvalidPreview,
  InvalidResult,
  ListedDomain,
  PreviewResult,
  RegisterDomainsResponse,
  RegisteredResult,
  Totals,
} from '../wire/response.ts'
export type { CallHeaders, CallOptions } from './call.ts'
export {
  DeleteAllError,
  type DeleteAllOptions,
  type DeleteAllResult,
  deleteAll,
} from './delete-all.ts'
export { CallError, type ClientCode } from './errors.ts'
export { type ListAllOptions, type ListProgress, listAll } from './list-all.ts'
export type { Names } from './names.ts'
export {
  PreviewAllError,
  type PreviewAllOptions,
  type PreviewAllResult,
  previewAll,
} from './preview-all.ts'
export {
  RegisterAllError,
  type RegisterAllOptions,
  type RegisterAllResult,
  type RegisterResult,
  registerAll,
} from './register-all.ts'
export type { Progress, Run } from './send-names.ts'
export { SyncAllError, type SyncAllOptions, type SyncPlan, syncAll } from './sync-all.ts'
