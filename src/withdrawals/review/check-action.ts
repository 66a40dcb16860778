import { nairaText, usdcText } from '../../kernel/money.js'
import { decide, isUnpaid, type ProviderRules, recreditableKinds } from '../../outgoing/decide.js'
import { hasEnded, neverSentStates } from '../../outgoing/lifecycle.js'
import type { ProviderTransfer } from '../../ports/payouts.js'
import { pricePaid } from '../price-withdrawal.js'
import { isRecreditable, type Review, type ReviewKind } from '../reviews.js'
import { awaitsConfirmation, type LockedWithdrawal } from '../withdrawal.js'

export type OperatorAction = 'replay' | 'release' | 'void' | 'recredit' | 'resolve' | 'close' | 'reopen'

/** What an operator says about an action besides the reason. */
export interface ActionOptions {
  /** `recredit`: do not wait. */
  readonly now?: boolean
  /** `resolve`: what was really paid. */
  readonly paidKobo?: bigint
}

/** `refused`: the reason why the action is not allowed now. `done`: what the action does, as a plan and as a report. */
export type Permission = { readonly refused: string } | { readonly done: string }

/** A withdrawal, and the provider's transfer of it. `found` undefined: the provider does not find one, or was not asked. */
export interface ReviewedWithdrawal {
  readonly withdrawal: LockedWithdrawal
  readonly found: ProviderTransfer | undefined
  readonly openReviews: readonly OpenReview[]
  /** What the last `close` closed and `reopen` may open again. */
  readonly closedReviews: readonly ClosedReview[]
}

/** `createdAt`: when the fact was first seen; `ageSeconds`: the seconds since then. */
export type OpenReview = Pick<Review, 'kind' | 'createdAt'> & { readonly ageSeconds: number }

export type ClosedReview = Pick<Review, 'id' | 'kind'>

/**
 * A provider may still pay what it has taken back, or has accepted and shows no more. So long `recredit` waits after the first sight
 * of the return, and `resolve` with `--paid 0` after the last request.
 */
const paidAfterAllSeconds = 86_400

export function checkAction(
  action: OperatorAction,
  reviewed: ReviewedWithdrawal,
  rules: ProviderRules,
  options: ActionOptions = {},
): Permission {
  const { withdrawal, found } = reviewed
  if (action === 'recredit') return checkRecredit(reviewed, options)
  if (action === 'resolve') return checkResolve(reviewed, rules, options)
  if (action === 'close') return checkClose(reviewed)
  if (action === 'reopen') return checkReopen(reviewed)
  if (withdrawal.status !== 'pending')
    return refused(
      `its status is ${withdrawal.status}, not pending${found ? `; the provider shows it ${found.state}` : ''}`,
    )
  if (found !== undefined)
    return refused(`the provider has it (${found.state}). Run: npm run ops -- payouts ask <reference>`)
  if (action === 'release') return checkRelease(reviewed)
  return action === 'void' ? checkVoid(withdrawal, rules) : checkReplay(withdrawal, rules)
}

/** Only its creator releases what waits for a confirmation: whoever asks an operator for it may be the thief. */
function checkRelease(reviewed: ReviewedWithdrawal): Permission {
  const { withdrawal } = reviewed
  const { sendState, waitsForBreaker, breaker } = withdrawal
  if (sendState === 'confirmation_hold')
    return refused('it waits for the confirmation of its creator, who alone can give it')
  if (isInDebtReview(reviewed)) {
    const limit = breaker === null ? '' : `; it still waits for the limit ${breaker}`
    return { done: `send it, and hold this creator no more for the debts of the review${limit}` }
  }
  if (waitsForBreaker && breaker !== null) return { done: `send it now, beyond the limit ${breaker}` }
  if (waitsForBreaker) return refused(waitsForPause)
  if (sendState !== 'identity_hold') return refused(`its send state is ${sendState}, not identity_hold`)
  return {
    done: awaitsConfirmation(withdrawal)
      ? 'have it wait for the confirmation of its creator, without a verified identity'
      : 'send it, without a verified identity',
  }
}

/** Its release decides about that, and about a payout limit only once the review is over. */
export function isInDebtReview({ openReviews }: Pick<ReviewedWithdrawal, 'openReviews'>): boolean {
  return openReviews.some(({ kind }) => kind === 'debt')
}

const waitsForPause = 'payouts are paused. Run: npm run ops -- payouts resume'

/**
 * It is safe to send a withdrawal that was certainly never sent. After a request that may have reached the provider it is safe
 * only if the provider documents that it refuses a used reference, and has had the time to show the transfer.
 */
function checkReplay(
  { sendState, sends, sinceSent, waitsForBreaker, breaker }: LockedWithdrawal,
  rules: ProviderRules,
): Permission {
  if (sendState === 'identity_hold')
    return refused('it waits for the identity of its creator: use release or verify-identity')
  if (sendState === 'confirmation_hold')
    return refused('it waits for the confirmation of its creator, who alone can give it')
  if (waitsForBreaker)
    return refused(breaker === null ? waitsForPause : `it waits for the limit ${breaker}: use release`)
  if (sendState === 'not_sent' && sends === 0) return { done: 'send it now; it was never sent before' }
  if (sendState === 'resend') return refused('it is about to be sent again already')
  if (sendState === 'sending')
    return refused('a request may be on its way now; the reconciler will ask the provider')
  if (!rules.deduplicates)
    return refused(
      'the money may have been sent, and the provider does not document that it refuses a used reference',
    )
  if ((sinceSent ?? 0) < rules.settleSeconds) return refused(tooRecent(rules))
  return { done: 'send it once more under the same reference; the provider refuses it if it has it already' }
}

/** The creator gets the money back only if it was never sent, or nothing is on its way and the provider had the time to show it. */
function checkVoid({ sendState, sinceSent, debitMicro }: LockedWithdrawal, rules: ProviderRules): Permission {
  const done = `fail it and give the creator ${usdcText(debitMicro)} back; it is never sent again`
  if (neverSentStates.includes(sendState)) return { done }
  if (sendState !== 'manual_review' && sendState !== 'resend')
    return refused(
      `its send state is ${sendState}: void needs ${neverSentStates.join(', ')}, resend or manual_review`,
    )
  return (sinceSent ?? 0) < rules.settleSeconds ? refused(tooRecent(rules)) : { done }
}

function checkRecredit(
  { withdrawal, found, openReviews }: ReviewedWithdrawal,
  { now = false }: ActionOptions,
): Permission {
  if (withdrawal.status !== 'completed') return refused(`its status is ${withdrawal.status}, not completed`)
  if (withdrawal.recreditedAt !== null)
    return refused(`the creator was credited again at ${withdrawal.recreditedAt.toISOString()}`)
  const returns = openReviews.filter(({ kind }) => isRecreditable(kind))
  const [first] = returns.toSorted((one, other) => other.ageSeconds - one.ageSeconds)
  if (first === undefined)
    return refused(
      `no review ${recreditableKinds.join(' or ')} is open: the money did not come back, or this was settled before`,
    )
  if (found === undefined || !isUnpaid(found.state))
    return refused(`the provider ${describeFound(found)}; recredit needs returned or failed`)
  if (!now && first.ageSeconds < paidAfterAllSeconds)
    return refused(
      `the provider may still pay it: ${first.kind} was first seen at ${first.createdAt.toISOString()}. Wait until ` +
        `${new Date(first.createdAt.getTime() + paidAfterAllSeconds * 1000).toISOString()}, or add --now beside --reason`,
    )
  return {
    done:
      `credit the creator with ${usdcText(withdrawal.debitMicro)} again, once (the provider ${describeFound(found)}); ` +
      'the provider transfer stays watched for 90 days',
  }
}

/**
 * Ends a mismatch, or what the provider accepted and shows no more: what was really paid is posted, and the rest of the hold is the
 * creator's again.
 */
function checkResolve(
  reviewed: ReviewedWithdrawal,
  rules: ProviderRules,
  { paidKobo }: ActionOptions,
): Permission {
  if (paidKobo === undefined) return refused('resolve needs --paid, what was really paid')
  return checkResolvable(reviewed, rules) ?? checkPaid(reviewed, paidKobo, rules)
}

/** The refusal when neither review is open, or something else ends it. */
function checkResolvable(
  { withdrawal, found, openReviews }: ReviewedWithdrawal,
  rules: ProviderRules,
): Permission | undefined {
  const { status, sendState } = withdrawal
  const isOpen = (kind: ReviewKind): boolean => openReviews.some((review) => review.kind === kind)
  if (!isOpen('mismatch') && !(isOpen('unknown') && isAccepted(withdrawal)))
    return refused('no review mismatch is open, nor a review unknown of what the provider had accepted')
  if (hasEnded(status))
    return refused(
      `its status is ${status}: nothing is held any more. Settle it outside the service, then close the review`,
    )
  if (status === 'pending' && sendState !== 'manual_review')
    return refused(`its send state is ${sendState}, not manual_review`)
  if (found === undefined) return undefined
  const decision = decide(withdrawal, found, rules)
  if (decision.kind !== 'review' || decision.review !== 'mismatch')
    return refused(
      `the provider ${describeFound(found)}, which is what was asked for. Run: npm run ops -- payouts ask <reference>`,
    )
  if (!isOpen('mismatch'))
    return refused(`the provider ${describeFound(found)}. Run: npm run ops -- payouts ask <reference>`)
  return found.state === 'accepted' || found.state === 'started'
    ? refused(`the provider ${describeFound(found)}: wait until it has ended there`)
    : undefined
}

function checkPaid(
  { withdrawal, found }: ReviewedWithdrawal,
  paidKobo: bigint,
  rules: ProviderRules,
): Permission {
  const { heldMicro, grossKobo } = withdrawal
  const shown = `the provider ${describeFound(found)}`
  if (paidKobo > grossKobo)
    return refused(
      `${nairaText(paidKobo)} is more than the ${nairaText(grossKobo)} that are held with the fee. ` +
        `Recover ${nairaText(paidKobo - grossKobo)} first, then resolve with what stayed with the creator`,
    )
  // Not found proves nothing before the provider had the time to show it.
  const sinceSent = withdrawal.sinceSent ?? 0
  if (paidKobo === 0n && found === undefined && sinceSent < rules.settleSeconds)
    return refused(tooRecent(rules))
  if (paidKobo === 0n && found === undefined && isAccepted(withdrawal) && sinceSent < paidAfterAllSeconds)
    return refused(
      'the provider accepted it and may still pay it: wait until 24 hours after the last request',
    )
  if (paidKobo === 0n)
    return found?.state === 'paid'
      ? refused(`${shown}; --paid 0 needs that nothing was paid`)
      : { done: `fail it and give the creator ${usdcText(heldMicro)} back; nothing was paid (${shown})` }
  if (found !== undefined && isUnpaid(found.state)) return refused(`${shown}: nothing was paid. Use --paid 0`)
  const price = pricePaid(withdrawal, paidKobo)
  return {
    done:
      `complete it with ${nairaText(paidKobo)} paid and a fee of ${nairaText(price.feeKobo)}: that costs the creator ` +
      `${usdcText(price.debitMicro)}, and ${usdcText(heldMicro - price.debitMicro)} are free again (${shown})`,
  }
}

function isAccepted({ status }: LockedWithdrawal): boolean {
  return status !== 'pending' && !hasEnded(status)
}

/** While money is held, the review is what has a person end that: closed alone, the money stays held and nobody is asked again. */
function checkClose({ withdrawal, found, openReviews }: ReviewedWithdrawal): Permission {
  if (openReviews.length === 0) return refused('it has no open review')
  if (!hasEnded(withdrawal.status))
    return refused(
      `the creator's ${usdcText(withdrawal.heldMicro)} are still held. Use what ends that and closes the review: ` +
        'ask, replay, void, resolve or release',
    )
  const kinds = openReviews.map(({ kind }) => kind)
  const shown = `the provider ${describeFound(found)}`
  return {
    done: `close the open reviews: ${kinds.join(', ')}. Now ${shown}. ${lossOfClosing(withdrawal, found, kinds)}`,
  }
}

/** What closing means for the money, in plain words. */
function lossOfClosing(
  { status, netKobo, debitMicro, recreditedAt }: LockedWithdrawal,
  found: ProviderTransfer | undefined,
  kinds: readonly ReviewKind[],
): string {
  const [naira, dollars] = [nairaText(netKobo), usdcText(debitMicro)]
  const isPaid = found !== undefined && !isUnpaid(found.state)
  if (status === 'failed' || recreditedAt !== null)
    return isPaid
      ? `The creator keeps both the ${naira} and the ${dollars}; the loss is ours`
      : `The creator has the ${dollars}; nobody loses anything`
  if (!kinds.some((kind) => isRecreditable(kind))) return 'No money moves'
  if (isPaid) return `The creator has the ${naira} and loses nothing`
  return (
    `THE CREATOR LOSES ${dollars}: neither the ${naira} nor the ${dollars} are theirs, unless you have paid them ` +
    'outside the service. To undo this: npm run ops -- payouts reopen <reference>'
  )
}

function checkReopen({ openReviews, closedReviews }: ReviewedWithdrawal): Permission {
  const open = openReviews.map(({ kind }) => kind)
  if (closedReviews.length > 0)
    return { done: `open again: ${closedReviews.map(({ kind }) => kind).join(', ')}; it moves no money` }
  return refused(
    open.length > 0
      ? `it is open: ${open.join(', ')}`
      : 'no review was closed with `close`, or the provider has shown the opposite since',
  )
}

function describeFound(found: ProviderTransfer | undefined): string {
  if (found === undefined) return 'does not find it'
  const amount =
    found.currency === 'NGN' ? nairaText(found.amountKobo) : `another currency (${found.currency})`
  return `shows it ${found.state} (${amount})`
}

function tooRecent({ settleSeconds }: ProviderRules): string {
  return `the provider may still show it later: wait until ${settleSeconds} s after the last request`
}

function refused(reason: string): Permission {
  return { refused: reason }
}
