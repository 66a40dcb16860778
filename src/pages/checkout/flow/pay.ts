import { displayNumber } from '../../../kernel/money.js'
import type { TipIntent, TipIntentStatus } from '../../../sdk/client/tip.js'
import { insufficient, type Thrown } from '../../lib/wallet-faults.js'
import type { Command, Next, Of, ParentMessage, SolFee } from '../machine/events.js'
import type { Fault, NoPrice, PricedTip, State, Step } from '../machine/state.js'
import { begin, failed, goTo, inSteps, showWallets, stay } from './next.js'

/** A price impact above this percentage must be accepted with a checkbox. */
export const impactToAccept = 5
/**
 * Lamports for the signatures and the priority fee of one transaction. Opening a token account for the creator costs more;
 * then the RPC endpoint refuses the transaction as insufficient.
 */
const networkFee = 10_000n
const solSymbol = 'SOL'

/** The balance of the input token that the wallet needs for this payment. */
export function needed({ input }: Pick<TipIntent, 'input'>): bigint {
  return BigInt(input.amount) + (input.symbol === solSymbol ? networkFee : 0n)
}

/** An account without data that keeps less than this cannot exist, so the network refuses what would leave it there. */
const leastLamports = 890_880n

/** What a wallet lacks of SOL to pay a fee. 0n: nothing. */
export function missingSol({ cost, has }: SolFee): bigint {
  const rest = has - cost
  return rest === 0n || rest >= leastLamports ? 0n : leastLamports - rest
}

export const priced = inSteps(['pricing'], (before, { wallet, address }, event: Of<'priced'>) => {
  const { intent, balance, fee } = event
  const pay = { wallet, address, intent }
  const state = { ...before, quoted: pay }
  const { intentId, quote, input } = intent
  const started: Command = {
    do: 'notify-parent',
    message: {
      type: 'tip.started',
      intentId,
      method: 'wallet',
      amountUsd: quote.amountUsd,
      tokenSymbol: input.symbol,
    },
  }
  // The embedding page gets one message for each intent.
  const news = before.quoted?.intent === intent ? [] : [started]
  if (balance !== undefined && balance < needed(intent))
    return goTo(
      state,
      { at: 'insufficient', pay, has: String(balance) },
      ...news,
      failed('insufficient_funds', `Not enough ${input.symbol}`, intentId),
    )
  const missing = fee === undefined ? 0n : missingSol(fee)
  if (missing > 0n)
    return goTo(
      state,
      { at: 'insufficient', pay, has: undefined, missingSol: String(missing) },
      ...news,
      failed('insufficient_funds', 'Not enough SOL for the network fee', intentId),
    )
  return goTo(state, { at: 'review', pay, declined: false, accepted: false }, ...news)
})

const reasons: Readonly<Record<string, NoPrice>> = {
  no_route: 'no-route',
  no_price: 'no-route',
  invalid_amount: 'too-small',
  amount_below_minimum: 'too-small',
  network: 'unanswered',
  bad_answer: 'unanswered',
}

export const priceFailed = inSteps(['pricing'], (state, step, { code }: Of<'price-failed'>) => {
  const reason = reasons[code] ?? 'unavailable'
  return goTo(state, { ...step, at: 'no-price', reason }, failed('unavailable', code))
})

export const acceptedImpact = inSteps(['review'], (state, step, { accepted }: Of<'accepted-impact'>) =>
  stay({ ...state, step: { ...step, accepted } }),
)

export const approved = inSteps(['review'], (state, step) => {
  const { pay } = step
  if (pay.intent.quote.priceImpactPct > impactToAccept && !step.accepted) return stay(state)
  return begin(state, { at: 'approving', pay }, (attempt) => ({
    do: 'pay',
    attempt,
    walletId: pay.wallet.id,
    intent: pay.intent,
    message: state.form.message.trim(),
  }))
})

/** Gives up a connection or an approval. A signature that arrives later is not sent. */
export function cancelled(state: State): Next {
  const { step } = state
  if (step.at === 'approving')
    return goTo(state, { at: 'review', pay: step.pay, declined: false, accepted: false })
  return showWallets(state)
}

export function payFailed(state: State, { attempt, fault, detail }: Of<'pay-failed'>): Next {
  const { step } = state
  if (attempt !== state.attempt) return stay(state)
  if (step.at === 'connecting')
    return goTo(state, connectFault(step, fault), failedBecause(fault, detail, null))
  if (step.at !== 'approving') return stay(state)
  return goTo(
    // After any other fault the next attempt gets a new transaction.
    provesNotSent(fault) ? state : { ...state, quoted: undefined },
    payFault(step.pay, fault, detail),
    failedBecause(fault, detail, step.pay.intent.intentId),
  )
}

/**
 * Whether this fault of a wallet that signs and sends proves that it sent nothing. After any other fault the transaction may
 * have been sent: the page then searches for the payment and does not offer to pay again.
 */
export function provesNotSent(fault: Fault): boolean {
  return ['rejected', 'busy', 'disconnected', 'insufficient'].includes(fault)
}

function connectFault({ wallet }: Extract<Step, { at: 'connecting' }>, fault: Fault): Step {
  if (fault === 'busy') return { at: 'busy', wallet, pay: undefined }
  if (fault === 'wrong-network') return { at: 'wrong-network', wallet }
  return { at: 'wallets', declined: fault === 'rejected' }
}

function payFault(pay: PricedTip, fault: Fault, detail: string): Step {
  const { wallet } = pay
  const steps: Readonly<Record<Fault, Step>> = {
    rejected: { at: 'review', pay, declined: true, accepted: false },
    busy: { at: 'busy', wallet, pay },
    disconnected: { at: 'wallets', declined: false },
    'wrong-network': { at: 'wrong-network', wallet },
    insufficient: { at: 'insufficient', pay, has: undefined },
    expired: { at: 'quote-expired', pay },
    network: { at: 'not-sent', pay, detail },
    failed: { at: 'not-sent', pay, detail },
  }
  return steps[fault]
}

const codes = {
  rejected: 'rejected',
  busy: 'unavailable',
  disconnected: 'no_wallet',
  'wrong-network': 'wrong_network',
  insufficient: 'insufficient_funds',
  expired: 'expired',
  network: 'unavailable',
  failed: 'unavailable',
} as const satisfies Record<Fault, string>

function failedBecause(fault: Fault, detail: string, intentId: string | null): Command {
  return failed(codes[fault], detail, intentId)
}

/** Handled in every step, also after a cancelled attempt: from now on money may be moving. */
export function sent(state: State, { payment }: Of<'sent'>): Next {
  if (state.step.at === 'done') return stay(state)
  return goTo(
    { ...state, quoted: undefined },
    { at: 'sent', payment, since: state.now },
    { do: 'save', payment },
    { do: 'notify-parent', message: { type: 'tip.submitted', ...payment } },
    { do: 'watch-payment', payment },
  )
}

/** Only the service's status completes a payment. */
export const paymentStatus = inSteps(
  ['sent', 'not-seen'],
  (state, { payment }, { intent }: Of<'payment-status'>) =>
    payment.intentId === intent.intentId ? applyStatus(stay(state), intent) : stay(state),
)

export function applyStatus(next: Next, intent: TipIntentStatus): Next {
  const { state, commands } = next
  const { step } = state
  if (step.at !== 'sent' && step.at !== 'not-seen') return next
  const payment = { intentId: intent.intentId, signature: intent.signature ?? step.payment.signature }
  if (intent.status === 'confirmed') {
    const done = { at: 'done', intent, completedAt: state.now } as const
    return goTo(
      state,
      done,
      { do: 'save', done },
      { do: 'notify-parent', message: completion(intent, state.now) },
    )
  }
  if (intent.outcome === 'mismatch')
    return goTo(state, { at: 'mismatch', payment }, ...lost('mismatch', payment.intentId, false))
  if (intent.outcome === 'underpaid') {
    const received = intent.receivedAmount ?? 0
    return goTo(
      state,
      { at: 'mismatch', payment, received: `${received} ${intent.output.symbol}` },
      { do: 'clear-saved' },
      failed('tx_failed', 'underpaid', payment.intentId, false, received),
    )
  }
  if (intent.outcome === 'tx_failed')
    return goTo(state, { at: 'failed-on-chain', payment }, ...lost('refused', payment.intentId))
  if (intent.outcome === 'not_found')
    return goTo(state, { at: 'not-landed' }, ...lost('not taken', payment.intentId))
  if (intent.status === 'expired')
    return step.at === 'not-seen'
      ? next
      : goTo(state, { at: 'not-seen', payment }, { do: 'watch-payment', payment, late: true })
  if (step.at === 'not-seen')
    return goTo(state, { at: 'sent', payment, since: state.now }, { do: 'watch-payment', payment })
  return { state: { ...state, step: { ...step, payment } }, commands }
}

function lost(message: string, intentId: string, retryable = true): Command[] {
  return [{ do: 'clear-saved' }, failed('tx_failed', message, intentId, retryable)]
}

/** The transaction landed. If it failed, the page shows that without waiting for the service. */
export const landed = inSteps(['sent'], (state, { payment }, { intentId, failed: bad }: Of<'landed'>) =>
  bad && payment.intentId === intentId
    ? goTo(state, { at: 'failed-on-chain', payment }, ...lost('refused', intentId))
    : stay(state),
)

export const notLanded = inSteps(['sent'], (state, { payment }, { intentId }: Of<'not-landed'>) =>
  payment.intentId === intentId
    ? goTo(state, { at: 'not-landed' }, ...lost('not taken', intentId))
    : stay(state),
)

function completion(intent: TipIntentStatus, now: number): ParentMessage {
  const { input, output } = intent
  return {
    type: 'tip.completed',
    intentId: intent.intentId,
    signature: intent.signature,
    method: 'wallet',
    amount: displayNumber(BigInt(input.amount), input.decimals),
    tokenSymbol: input.symbol,
    amountUsd: intent.quote.amountUsd,
    receivedAmount: intent.receivedAmount ?? displayNumber(BigInt(output.amount), output.decimals),
    timestamp: new Date(now).toISOString(),
  }
}

/** Classifies the JSON-RPC error of an endpoint that refused a transaction. */
export function sendFault({ code, message, data }: Thrown): Fault {
  const text = `${String(message ?? '')} ${JSON.stringify(data ?? '')}`
  if (/Blockhash ?not ?found|block height exceeded/i.test(text)) return 'expired'
  if (insufficient.test(text)) return 'insufficient'
  return Number(code) === 4900 ? 'network' : 'failed'
}
