import { defineLifecycle } from '../kernel/state-machine.js'

export type TipStatus = 'pending' | 'confirmed' | 'failed' | 'cancelled'

/**
 * Every move a tip may make; the database refuses any other. A chain tip is confirmed by what the verifier reads
 * on the chain and fails only when it vanishes again before finality: a signature that is never found, or whose
 * transaction failed, stays `pending` for ever (contract). Late money confirms a fiat tip from any state.
 */
export const tipLifecycle = defineLifecycle<TipStatus>('pending', {
  pending: ['confirmed', 'failed', 'cancelled'],
  confirmed: ['failed'],
  failed: ['confirmed'],
  cancelled: ['confirmed'],
})
