import type { ProviderRules } from '../../../src/outgoing/decide.js'
import type { ProviderTransfer } from '../../../src/ports/payouts.js'
import type { LockedWithdrawal } from '../../../src/withdrawals/withdrawal.js'
import type { Row, Transfer } from './state.js'
import type { Rules } from './steps.js'

// The state of the model in the form that the product's own rules read: `decide` and `checkAction` run here as they run in production.

const settleSeconds = 900
/** Once the provider had its time, no rule has another wait: it never shows late. */
const longSeconds = 1e9
const reference = 'fiatpay-0123456789abcdef'
const sometime = new Date(0)
/** What was asked for, and the other amount that a provider may have taken. */
const netKobo = 100_000n
const otherKobo = 90_000n

export const paidKobo = otherKobo

export function providerRules({ setting: { deduplicates }, has }: Rules): ProviderRules {
  return {
    deduplicates: deduplicates || !has('without deduplication only a person has it sent again'),
    settleSeconds: has('absence counts after the settle time') ? settleSeconds : 0,
  }
}

/** The fields of a locked row on which a decision depends. */
export function viewOf(row: Row): LockedWithdrawal {
  const view: Partial<LockedWithdrawal> = {
    status: row.status,
    sendState: row.send,
    sends: row.sends,
    providerReference: reference,
    isResolved: row.resolved,
    recreditedAt: row.recredited ? sometime : null,
    sinceSent: row.request === 0 ? null : row.settled ? longSeconds : 0,
    confirmationReason: null,
    confirmedAt: null,
    breaker: null,
    waitsForBreaker: false,
    netKobo,
    feeKobo: netKobo / 100n,
    grossKobo: netKobo + netKobo / 100n,
    debitMicro: 1_000_000n,
    heldMicro: 1_000_000n,
  }
  return view as LockedWithdrawal
}

export function shownTransfer(found: Transfer | null): ProviderTransfer | undefined {
  if (found === null) return undefined
  const amountKobo = found.other ? otherKobo : netKobo
  return { id: '1', reference, amountKobo, feeKobo: 0n, currency: 'NGN', state: found.state, reason: null }
}
