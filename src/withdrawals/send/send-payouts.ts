import { ProviderError } from '../../kernel/provider-error.js'
import { query } from '../../platform/database/database.js'
import { takeDueRows } from '../../platform/database/due-rows.js'
import type { Batch } from '../../platform/worker/batch-loop.js'
import type { PayoutSender } from '../../ports/payout-sender.js'
import type { Services } from '../../services.js'
import { provesAbsence } from '../never-sent.js'
import { nameHash } from '../request/shared-payee.js'
import { type BankAccount, openAccount, resolvedContext, sealName } from '../sealed-account.js'
import { type DuePayout, payoutQueue } from '../work-queue.js'
import { holdForDebt } from './hold-for-debt.js'
import {
  recordAccepted,
  recordRefused,
  recordSending,
  recordUnknown,
  recordUnsent,
  type Sending,
} from './record-outcome.js'

type Needs = Pick<Services, 'db' | 'transact' | 'config' | 'metrics' | 'log' | 'payouts'> & {
  readonly sender: PayoutSender
}

/** A process that was paused this long after `recordSending` does not send: others may have decided about the row. */
const staleMs = 5000
const never = Number.POSITIVE_INFINITY

/**
 * Sends due withdrawals. No other code does. This order prevents a second payment (docs/decisions/0019): `sending` is committed
 * before the first byte is sent, and a row in `sending` is reconciled, never sent. An outcome is only an acceptance, or a
 * documented refusal of the only request so far. Everything else is unknown.
 */
export function createPayoutBatch(services: Needs): Batch {
  return async () => {
    const due = await takeDueRows<DuePayout>(services.db, payoutQueue(services.config.payouts))
    const pauses = await Promise.all(due.map((payout) => sendOne(services, payout)))
    return { taken: due.length, nextDueMs: Math.min(...pauses) }
  }
}

/** Returns the ms until the payout is due to be sent again. After an unexpected failure it is due when its lease ends. */
async function sendOne(services: Needs, payout: DuePayout): Promise<number> {
  let nameRecorded: Promise<void> | undefined
  try {
    const found = payout.looksUp ? await lookUp(services, payout) : undefined
    if (found !== undefined) return found
    if (await holdForDebt(services, payout)) return never
    const account = { bankCode: payout.bankCode, ...openAccount(services.config, payout) }
    nameRecorded = recordAccountName(services, payout, account)
    const recipient = payout.recipient ?? (await createRecipient(services, payout, account))
    return await send(services, payout, recipient)
  } catch (error) {
    return await handleUnsent(services, payout, error)
  } finally {
    await nameRecorded
  }
}

/**
 * After a restore the provider may have what these rows have not sent (docs/decisions/0072). Then it counts as sent, and the
 * reconciler follows it. Returns as `sendOne`; undefined: the provider certainly does not have it.
 */
async function lookUp(services: Needs, payout: DuePayout): Promise<number | undefined> {
  let id: string | undefined
  try {
    id = (await services.payouts.findTransfer(payout.providerReference))?.id
  } catch (error) {
    return retryLater(services, payout, failureOf(error).message)
  }
  if (id === undefined) {
    if (payout.adopted) return retryLater(services, payout, 'the provider does not show it any more')
    return provesAbsence(payout, services.config.payouts)
      ? undefined
      : recordUnsent(services, payout, 'the provider need not show yet what was lost')
  }
  // Its money is gone already, so no payout limit holds it back.
  if ((await recordSending(services, { ...payout, released: true })) !== undefined)
    await recordAccepted(services, payout, id)
  return never
}

async function send(services: Needs, payout: DuePayout, recipient: string): Promise<number> {
  const startedAt = performance.now()
  const sending = await recordSending(services, payout)
  if (sending === undefined || performance.now() - startedAt > staleMs) return never
  const outcome = await services.sender
    .send({
      reference: payout.providerReference,
      amountKobo: payout.netKobo,
      recipient,
      narration: `Withdrawal ${payout.reference}`,
    })
    .catch((error: unknown) => failureOf(error))
  if (typeof outcome === 'string') await recordAccepted(services, payout, outcome)
  else if (sending.sends > 1 || outcome.kind === 'ambiguous')
    await recordUnknown(services, payout, outcome.message)
  else if (outcome.kind === 'rejected') await recordRefused(services, payout, outcome.message, sending)
  else return retryLater(services, payout, outcome.message, sending)
  return never
}

/**
 * Handles an error before or while sending. A failure to create the recipient is never ambiguous, because nothing was sent.
 * After any other error the row stays as it is; when its lease ends, a row in `sending` is reconciled.
 */
async function handleUnsent(services: Needs, payout: DuePayout, error: unknown): Promise<number> {
  if (!(error instanceof RecipientError)) {
    services.log.error(
      { err: error, reference: payout.reference, requestId: payout.requestId },
      'a payout failed unexpectedly; a worker takes it again',
    )
    return never
  }
  const { kind, message } = error.failure
  if (kind !== 'rejected') return retryLater(services, payout, message)
  await recordRefused(services, payout, message)
  return never
}

/** We are at fault, or the provider is unavailable. The withdrawal waits, and an operator is alarmed. */
function retryLater(services: Needs, payout: DuePayout, error: string, sending?: Sending): Promise<number> {
  services.metrics.alerts.inc({ kind: 'payout_held_up' })
  services.log.error(
    { reference: payout.reference, requestId: payout.requestId, error },
    'a payout cannot be sent now; it is sent again later',
  )
  return recordUnsent(services, payout, error, sending)
}

class RecipientError extends Error {
  override name = 'RecipientError'
  readonly failure: ProviderError
  constructor(failure: ProviderError) {
    super(failure.message)
    this.failure = failure
  }
}

async function createRecipient(
  { db, sender }: Needs,
  payout: DuePayout,
  account: BankAccount,
): Promise<string> {
  const code = await sender.createRecipient(account).catch((error: unknown) => {
    throw new RecipientError(failureOf(error))
  })
  await query(db, {
    name: 'payouts.recipient',
    text: 'update withdrawals set recipient_code = $2 where id = $1',
    values: [payout.id, code],
  })
  return code
}

/** Records the account's name at the bank, for operators and the limits of one name. A different name or no answer does not stop the payout. */
async function recordAccountName(
  { db, config, payouts, log }: Needs,
  { id, reference, requestId, nameKnown }: DuePayout,
  account: BankAccount,
): Promise<void> {
  if (nameKnown) return
  try {
    const name = await payouts.resolveAccountName(account)
    await query(db, {
      name: 'payouts.account-name',
      text: 'update withdrawals set sealed_resolved_name = $2, name_hash = $3 where id = $1',
      values: [id, sealName(config, resolvedContext(reference), name), nameHash(config, name)],
    })
  } catch (error) {
    log.debug({ err: error, reference, requestId }, 'the provider did not return the name of a bank account')
  }
}

function failureOf(error: unknown): ProviderError {
  return error instanceof ProviderError ? error : new ProviderError('ambiguous', 'unexpected error')
}
