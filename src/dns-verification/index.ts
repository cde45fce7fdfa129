export type { DnsRecord } from '../rules/submitted.ts'
export {
  ClaimError,
  type ClaimedRegistration,
  type ClaimResult,
  type KeptReason,
  type MovedRegistration,
} from './claim.ts'
export {
  type ClaimOptions,
  createDnsVerification,
  type DnsVerification,
  type DnsVerificationOptions,
} from './create-dns-verification.ts'
export type { ResolveTxt } from './resolver.ts'
export type { Mistake, Verification } from './verify.ts'
