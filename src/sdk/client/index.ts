// biome-ignore-all lint/performance/noBarrelFile: the one entry of the package for integrators
export {
  type BackendClient,
  createBackendClient,
  type InitRequest,
  type SdkInit,
  type TipCompleted,
  type TipEventsRequest,
} from './backend.js'
export { type FieldProblem, TippingError } from './errors.js'
export type {
  EventBalance,
  EventDispute,
  EventsRequest,
  EventTip,
  EventWithdrawal,
  OwnReference,
  TippingEvent,
} from './events.js'
export { type StreamedTip, type StreamOptions, streamTips } from './stream.js'
export {
  createTipClient,
  type RecordedTip,
  type SessionDescription,
  type SubmittedTip,
  type TipClient,
  type TipIntent,
  type TipIntentStatus,
  type TipRequest,
  type TokenAmount,
  type WaitOptions,
} from './tip.js'
export {
  ReceiptError,
  type ReceiptKey,
  type SignedReceipt,
  type TipReceipt,
  verifyReceipt,
} from './verify-receipt.js'
export { type ReceivedWebhook, verifyWebhook, WebhookError } from './verify-webhook.js'
