import { defineLifecycle } from '../kernel/state-machine.js'

export type TipStatus = 'pending' | 'confirmed' | 'failed' | 'cancelled'

/**
 * Every status change a tip may make; a database trigger refuses any other. The verifier confirms a chain tip from
 * what it reads on the chain. A confirmed chain tip fails only when its transaction vanishes before finality. A tip
 * whose signature is never found, or whose transaction failed, stays `pending` forever (API: POST /chain/tips/create).
 * A late payment confirms a fiat tip from any status.
 */
export const tipLifecycle = defineLifecycle<TipStatus>('pending', {
  pending: ['confirmed', 'failed', 'cancelled'],
  confirmed: ['failed'],
  failed: ['confirmed'],
  cancelled: ['confirmed'],
})
