export {
  inTurns,
  type LeasedChange,
  type Line,
  lineOf,
  type Outbox,
  type PendingChange,
  type PendingStats,
  type Postponement,
  type Push,
  type SweepOptions,
  type SweepResult,
  type SynchronizationErrorHandler,
  type TakeRequest,
} from '../outbox/contract.ts'
export { type Name, wildcardsAbove } from '../rules/name.ts'
export type {
  Change,
  ImportFindings,
  ListedRegistration,
  LookUpResult,
  NamesBelow,
  Registration,
  Team,
} from '../rules/registration.ts'
export type { TraceContext } from '../runtime/tracing.ts'
export { createUuidGenerator } from '../runtime/uuid.ts'
export type { ListPage, ReleaseKeys } from './arguments.ts'
export type { ImportRequest, LookUp, RegistrationRequest, SavedRegistrations } from './contract.ts'
export {
  type DomainStore,
  InvalidCursorError,
  type ListOptions,
  type TransferFindings,
  type TransferRequest,
  type TransferredRegistrations,
} from './contract.ts'
export {
  createManagedStore,
  type Decision,
  type ManagedStore,
  type ManagedStoreOptions,
  type RegistrationStep,
  type ReleaseRecording,
  type StoreBackend,
} from './managed-store.ts'
export { type NameKey, rangeBelow, toKey } from './name-key.ts'
