export { MonitorUnavailableError } from '../registry/monitor-unavailable.ts'
export type { Change } from '../registry/store.ts'
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
