export { MonitorUnavailableError } from '../outbox/contract.ts'
export type { Change } from '../rules/registration.ts'
export {
  createWebhook,
  type Webhook,
  type WebhookBody,
  type WebhookChange,
  type WebhookOptions,
} from './create-webhook.ts'
export {
  type VerifyWebhookOptions,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from './verify-webhook.ts'
