export type { RegisterDomainsRequest } from '../wire/request.ts'
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
export { CallError, type CallHeaders, type CallOptions } from './call.ts'
export {
  DeleteAllError,
  type DeleteAllOptions,
  type DeleteAllResult,
  type DeleteProgress,
  deleteAll,
} from './delete-all.ts'
export { type ListAllOptions, type ListProgress, listAll } from './list-all.ts'
export type { Names } from './names-source.ts'
export {
  PreviewAllError,
  type PreviewAllOptions,
  type PreviewAllResult,
  type PreviewProgress,
  previewAll,
} from './preview-all.ts'
export {
  type Progress,
  RegisterAllError,
  type RegisterAllOptions,
  type RegisterAllResult,
  type RegisterResult,
  registerAll,
} from './register-all.ts'
export type { Run } from './run.ts'
export { SyncAllError, type SyncAllOptions, type SyncPlan, syncAll } from './sync-all.ts'
