import type { EventContent, EventType } from '../events/event.js'
import { recordEvent } from '../events/record-event.js'
import { displayNumber } from '../kernel/money.js'
import { maskAccount } from '../kernel/text.js'
import type { OutgoingStatus } from '../outgoing/lifecycle.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import { heldFor, type Withdrawal } from './withdrawal.js'

const typeOf: Readonly<Partial<Record<OutgoingStatus | 'held' | 'returned', EventType>>> = {
  held: 'withdrawal.held',
  submitted: 'withdrawal.submitted',
  completed: 'withdrawal.completed',
  failed: 'withdrawal.failed',
  returned: 'withdrawal.returned',
}

/** Records what has happened to a withdrawal, in this order. `withdrawal`: as it is after all of it. */
export function recordWithdrawalEvents(
  uow: Pick<UnitOfWork, 'atEnd'>,
  withdrawal: Withdrawal,
  happened: readonly (keyof typeof typeOf)[],
): void {
  const { reference, userId } = withdrawal
  const content = new Map([[reference, { userId, data: describe(withdrawal), origin: withdrawal }]])
  const read = async () => content
  for (const what of happened) {
    const type = typeOf[what]
    if (type !== undefined) recordEvent(uow, type, reference, read)
  }
}

/** As the history has it, without the name on the account, which only processes with the data key can read. */
function describe(withdrawal: Withdrawal): EventContent['data'] {
  const { reference, status, currency, bankCode, failureReason } = withdrawal
  return {
    reference,
    status,
    currency,
    amountNGN: displayNumber(withdrawal.netKobo, 2),
    systemFeeNGN: displayNumber(withdrawal.feeKobo, 2),
    amountUSDC: displayNumber(withdrawal.debitMicro, 6),
    bankCode,
    accountNumber: maskAccount(withdrawal.lastFour),
    heldFor: heldFor(withdrawal),
    failureReason,
    createdAt: withdrawal.createdAt,
  }
}
