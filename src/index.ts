export type { Awaitable } from './awaitable.ts'
export { ApiError, type ApiErrorOptions, type ErrorCode, isApiError } from './errors.ts'
export {
  classifyHostname,
  type HostnameClassification,
  type HostnameRejection,
  type InvalidHostname,
  type ValidHostname,
} from './hostname/classify.ts'
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
export type { KeyContext } from './keys/key-context.ts'
export type { KeyOwner, KeyRecord, StoredKeyRecord } from './keys/key-record.ts'
export type { KeyStore, ManagedKeyStore } from './keys/key-store.ts'
export { createMemoryKeyStore, type MemoryKeyStore } from './keys/memory-key-store.ts'
export { createMemoryStore, type MemoryStore, type MemoryStoreOptions } from './memory/memory-store.ts'
export { type RegisterDomainsOptions, registerDomains } from './register-domains.ts'
export type { Name } from './registry/name.ts'
export type {
  Below,
  Change,
  DomainStore,
  Found,
  ListOptions,
  Registered,
  Registration,
  RegistrationRequest,
  SweepOptions,
  SweepResult,
  SynchronizationErrorHandler,
  Team,
} from './registry/store.ts'
export { type StartSynchronizingOptions, type Synchronizable, startSynchronizing } from './start-synchronizing.ts'
export type { RegisterDomainsRequest } from './wire/request.ts'
export {
  countTotals,
  type DomainResult,
  type ErrorResponse,
  type InvalidCode,
  type InvalidResult,
  type RegisterDomainsResponse,
  type RegisteredResult,
  type Totals,
} from './wire/response.ts'
