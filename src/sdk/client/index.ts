// biome-ignore-all lint/performance/noBarrelFile: the one entry of the package for integrators
export { type BackendClient, createBackendClient, type TipCompleted } from './backend.js'
export { TippingError } from './errors.js'
export { type StreamedTip, streamTips } from './stream.js'
export { createTipClient, type TipClient, type TipIntent, type TipIntentStatus } from './tip.js'
