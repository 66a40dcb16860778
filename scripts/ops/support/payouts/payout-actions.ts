import type { Composed } from '../../../../src/compose.js'
import { nairaText } from '../../../../src/kernel/money.js'
import { ExchangeRates } from '../../../../src/market/exchange-rates.js'
import type { Asked } from '../../../../src/outgoing/restored.js'
import type { ProviderTransfer } from '../../../../src/ports/payouts.js'
import { planRelease, type Release } from '../../../../src/withdrawals/confirmation/release.js'
import {
  type ActionOptions,
  checkAction,
  type OperatorAction,
  type Permission,
} from '../../../../src/withdrawals/review/check-action.js'
import { applyAction, isHeld, lockForReview } from '../../../../src/withdrawals/review/operator-actions.js'
import { askIfOld, withdrawalKind } from '../../../../src/withdrawals/withdrawal-kind.js'
import { RefusedError } from '../command.js'
import { recordAudit } from '../record-audit.js'
import { findPayout, type PayoutRow } from './payout-rows.js'

/** The result of an action for one withdrawal. */
export interface ActionResult {
  readonly reference: string
  /** False: refused. */
  readonly done: boolean
  /** What was done or is planned, or why it was refused. */
  readonly message: string
}

export interface ActionRequest extends ActionOptions {
  readonly action: OperatorAction
  readonly actor: string
  readonly reason: string
  readonly apply: boolean
}

/** The one action that does not depend on what the provider shows. For all others the provider is asked first. */
const withoutProvider: OperatorAction = 'release'

/**
 * Runs or plans one action. Asks the provider first, then checks the action under the withdrawal's lock and writes it to the
 * audit log in the same transaction. Two operators who run it at the same time do it once. Throws ProviderError, RefusedError.
 */
export async function runAction(
  services: Composed,
  reference: string,
  request: ActionRequest,
): Promise<ActionResult> {
  const row = await findPayout(services, reference)
  const found =
    request.action === withoutProvider
      ? undefined
      : await services.payouts.findTransfer(row.providerReference)
  if (request.action === 'release') await new ExchangeRates(services).refresh()
  const asked =
    request.action === withoutProvider
      ? await askIfOld(services, [row.id])
      : new Map([[row.id, found !== undefined]])
  const permission = await checkAndApply(services, row, { found, asked }, request)
  if ('refused' in permission) return { reference, done: false, message: `not done: ${permission.refused}` }
  return { reference, done: true, message: permission.done }
}

function checkAndApply(
  services: Composed,
  { id, reference }: PayoutRow,
  { found, asked }: { readonly found: ProviderTransfer | undefined; readonly asked: Asked },
  { action, actor, reason, apply, ...options }: ActionRequest,
): Promise<Permission> {
  const kind = withdrawalKind(services)
  return services.transact(async (uow) => {
    const reviewed = await lockForReview(uow, id, found)
    if (reviewed === undefined) throw new RefusedError(`there is no withdrawal ${reference}`)
    let permission = checkAction(action, reviewed, kind.rules, options)
    if ('refused' in permission) return permission
    const terms = services.config.withdrawals
    if (action === 'release' && isHeld(reviewed.withdrawal)) {
      const release = await planRelease(uow.trx, terms, reviewed.withdrawal)
      permission = { done: `${permission.done}: ${releaseText(release)}` }
    }
    if (!apply) return permission
    await applyAction(uow, action, reviewed, { ...options, kind, asked, settings: services.config, reason })
    const { status, sendState, sends } = reviewed.withdrawal
    const absent = action === withoutProvider ? 'not asked' : 'not found'
    const before = { status, sendState, sends, provider: found?.state ?? absent }
    const details = { reason, before, done: permission.done, ...(options.now === true && { now: true }) }
    const subject = `payout:${reference}`
    await recordAudit(uow.trx, { actor, action: `payouts ${action}`, subject, details })
    return permission
  })
}

/** What a release sends, for people. */
function releaseText({ netKobo, promisedKobo, givenBack, awaitsConfirmation }: Release): string {
  const net = nairaText(netKobo)
  if (awaitsConfirmation) return `${net} at most`
  if (givenBack) return `${net} at the current rate is too little to send, so the creator gets the money back`
  return netKobo === promisedKobo
    ? net
    : `${net} at the current rate; ${nairaText(promisedKobo)} were promised`
}
