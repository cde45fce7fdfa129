export { ApiError, type ApiErrorOptions, type ErrorCode, isApiError } from './errors/api-error.ts'
export {
  classifyHostname,
  type HostnameClassification,
  type HostnameRejection,
  type InvalidHostname,
  type ValidHostname,
} from './hostname/classify.ts'
export { displayHostname } from './hostname/display.ts'
export type { HostnameDetails, HostnameReason } from './hostname/mistakes/mistake.ts'
export { type HostnameSchema, hostnameSchema } from './hostname/schema.ts'
export { type SuffixList, suffixList } from './hostname/suffix-list-version.ts'
export {
  type ApiKeyOptions,
  type GenerateApiKeyOptions,
  type GeneratedApiKey,
  generateApiKey,
  hashApiKey,
  type ParsedApiKey,
  parseApiKey,
} from './keys/api-key.ts'
export { authenticate } from './keys/authenticate.ts'
export type { KeyContext, Scope } from './keys/key-context.ts'
export type { CallingKey, KeyChanges, KeyOwner, KeyRecord, StoredKeyRecord } from './keys/key-record.ts'
export type { KeyStore, ManagedKeyStore } from './keys/key-store.ts'
export { createMemoryKeyStore, type MemoryKeyStore } from './keys/memory-key-store.ts'
export { createMemoryStore, type MemoryStore, type MemoryStoreOptions } from './memory/memory-store.ts'
export { createMemoryWaitingStore } from './memory/memory-waiting-store.ts'
export type { OperationOptions } from './operations/call.ts'
export type { CheckNames, ProposedName } from './operations/check-names.ts'
export { type DeleteDomainsOptions, deleteDomains } from './operations/delete-domains.ts'
export { type EachRegistrationOptions, eachRegistration } from './operations/each-registration.ts'
export { findOwners, type HostnameOwner } from './operations/find-owners.ts'
export {
  type ImportRejection,
  type ImportResult,
  importDomains,
  type RegistrationToImport,
  type RejectedImport,
} from './operations/import-domains.ts'
export { exportDomains, listDomains } from './operations/list-domains.ts'
export { type ListWaitingOptions, listWaiting } from './operations/list-waiting.ts'
export {
  createOwnerLookup,
  type OwnerLookup,
  type OwnerLookupOptions,
} from './operations/owner-lookup.ts'
export { type ClaimRecord, type PreviewDomainsOptions, previewDomains } from './operations/preview-domains.ts'
export { type Correction, reconcile, type Watched } from './operations/reconcile.ts'
export { type RegisterDomainsOptions, registerDomains } from './operations/register-domains.ts'
export {
  type RetryWaitingOptions,
  type RetryWaitingResult,
  retryWaiting,
  type SettledName,
} from './operations/retry-waiting.ts'
export { type Retrying, type StartRetryingOptions, startRetrying } from './operations/start-retrying.ts'
export { releaseAll, type TransferOptions, type Transferred, transfer } from './operations/transfer.ts'
export type {
  LeasedChange,
  PendingChange,
  PendingStats,
  Push,
  SweepOptions,
  SweepResult,
  SynchronizationErrorHandler,
} from './outbox/contract.ts'
export { MonitorUnavailableError } from './outbox/contract.ts'
export {
  type StartSynchronizingOptions,
  type Synchronizing,
  startSynchronizing,
} from './outbox/start-synchronizing.ts'
export type { Name } from './rules/name.ts'
export type {
  Change,
  ListedRegistration,
  LookUpResult,
  Registration,
  Team,
} from './rules/registration.ts'
export type { ConflictCode, DnsRecord, NameRefusal } from './rules/submitted.ts'
export type { TraceContext } from './runtime/tracing.ts'
export type { DomainStore, ListOptions } from './store/contract.ts'
export type { ManagedStore } from './store/managed-store.ts'
export type {
  NameToKeep,
  TakenName,
  Tried,
  WaitingName,
  WaitingReason,
  WaitingStats,
  WaitingStore,
} from './store/waiting.ts'
export type { Awaitable } from './time/awaitable.ts'
export type { ExportDomainsQuery, ListDomainsQuery, ListWaitingQuery, RegisterDomainsRequest } from './wire/requests.ts'
export {
  countTotals,
  type DeleteDomainsResponse,
  type DeleteResult,
  type DomainResult,
  type ErrorResponse,
  type InvalidCode,
  type InvalidResult,
  type ListDomainsResponse,
  type ListedDomain,
  type ListWaitingResponse,
  type PreviewDomainsResponse,
  type PreviewResult,
  type RegisterDomainsResponse,
  type RegisteredResult,
  type Totals,
  type WaitingDomain,
} from './wire/results.ts'
