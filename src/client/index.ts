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
  WaitingDomain,
} from '../wire/results.ts'
export type { CallHeaders, CallOptions } from './call.ts'
export { CallError, type ClientCode } from './errors.ts'
export { type ListAllOptions, type ListProgress, listAll } from './list-all.ts'
export { type ListAllWaitingOptions, listAllWaiting } from './list-all-waiting.ts'
export {
  DeleteAllError,
  type DeleteAllOptions,
  type DeleteAllResult,
  deleteAll,
  PreviewAllError,
  type PreviewAllOptions,
  type PreviewAllResult,
  previewAll,
  RegisterAllError,
  type RegisterAllOptions,
  type RegisterAllResult,
  type RegisterResult,
  registerAll,
} from './operations.ts'
export type { Names, Progress, Run } from './run.ts'
export { SyncAllError, type SyncAllOptions, type SyncPlan, syncAll } from './sync-all.ts'
