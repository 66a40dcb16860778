import { ProviderError } from '../../kernel/provider-error.js'
import { query } from '../../platform/database/database.js'
import type { Batch } from '../../platform/worker/batch-loop.js'
import type { PayoutSender } from '../../ports/payout-sender.js'
import type { Services } from '../../services.js'
import { type DuePayout, takePayoutsToSend } from '../work-queue.js'
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

/** A process that was stopped so long between noting and sending does not send: others may have drawn conclusions. */
const staleMs = 5000
const never = Number.POSITIVE_INFINITY

/**
 * Sends due withdrawals: the only place that does. The order is what keeps money from leaving twice: `sending` is
 * committed before the first byte leaves, and whatever is found in `sending` later is asked about, never sent. Only an
 * accepted answer, or a documented refusal of the only request there ever was, is a verdict; all else is unknown.
 */
export function createPayoutBatch(services: Needs): Batch {
  return async () => {
    const due = await takePayoutsToSend(services)
    const pauses = await Promise.all(due.map((payout) => attempt(services, payout)))
    return { taken: due.length, nextDueMs: Math.min(...pauses) }
  }
}

/** Returns the ms until it is due here again. What fails unexpectedly comes back by its lease. */
async function attempt(services: Needs, payout: DuePayout): Promise<number> {
  const named = noteHolder(services, payout)
  try {
    const recipient = payout.recipient ?? (await makeRecipient(services, payout))
    return await send(services, payout, recipient)
  } catch (error) {
    return await judgeUnsent(services, payout, error)
  } finally {
    await named
  }
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
  else return pauseUnsent(services, payout, outcome.message, sending)
  return never
}

/** Before anything was sent a failure is never ambiguous. Other errors are left to the lease, which asks. */
async function judgeUnsent(services: Needs, payout: DuePayout, error: unknown): Promise<number> {
  if (!(error instanceof RecipientError)) {
    services.log.error({ err: error, reference: payout.reference }, 'a payout could not be worked on')
    return never
  }
  const { kind, message } = error.failure
  if (kind !== 'rejected') return pauseUnsent(services, payout, message)
  await recordRefused(services, payout, message)
  return never
}

/** Our own fault, or nobody there: the creator's withdrawal waits, and somebody is called. */
function pauseUnsent(services: Needs, payout: DuePayout, error: string, sending?: Sending): Promise<number> {
  services.metrics.alerts.inc({ kind: 'payout_held_up' })
  services.log.error({ reference: payout.reference, error }, 'a payout cannot be sent; it is tried again')
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

async function makeRecipient({ db, sender }: Needs, payout: DuePayout): Promise<string> {
  const code = await sender.createRecipient(payout).catch((error: unknown) => {
    throw new RecipientError(failureOf(error))
  })
  await query(db, {
    name: 'payouts.recipient',
    text: 'update withdrawals set recipient_code = $2 where id = $1',
    values: [payout.id, code],
  })
  return code
}

/** Notes what the bank calls the holder, for operators. Another name is no reason to refuse, nor is no answer. */
async function noteHolder({ db, payouts, log }: Needs, payout: DuePayout): Promise<void> {
  if (payout.resolvedName !== null) return
  try {
    await query(db, {
      name: 'payouts.holder',
      text: 'update withdrawals set resolved_name = $2 where id = $1',
      values: [payout.id, await payouts.resolveName(payout)],
    })
  } catch (error) {
    log.debug({ err: error, reference: payout.reference }, 'the holder of a bank account is not known')
  }
}

function failureOf(error: unknown): ProviderError {
  return error instanceof ProviderError ? error : new ProviderError('ambiguous', 'unexpected error')
}
