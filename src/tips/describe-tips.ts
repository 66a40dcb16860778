import type { DescribeSubjects, EventContent, EventType } from '../events/event.js'
import { recordEvent } from '../events/record-event.js'
import { displayNumber } from '../kernel/money.js'
import { type Origin, originColumns } from '../kernel/trace-context.js'
import { readBalance } from '../ledger/accounts.js'
import { query } from '../platform/database/database.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import { type ListedTip, listColumns, presentCreatorTip } from './read/present.js'

/** What an event about a tip says: the tip as its creator's list has it, and whose it is. */
const describeTips: DescribeSubjects = async (trx, ids) => {
  // A sub-select: the plan for any ids costs no more than one for these, so PostgreSQL plans it once.
  const rows = await query<ListedTip & Origin & { readonly subject: string; readonly userId: string }>(trx, {
    name: 'tips.describe',
    text: /* sql */ `
      select ${listColumns}, p.usd, t.id as subject, r.user_id as "userId", ${originColumns('t')}
      from tips t join parties r on r.id = t.recipient_party left join parties s on s.id = t.sender_party
        left join prices p on p.mint = t.mint
      where t.id = any((select $1::text[])::text[]) and r.user_id is not null`,
    values: [ids],
  })
  return new Map(
    rows.map(({ subject, userId, requestId, traceId, ...tip }) => [
      subject,
      { userId, data: presentCreatorTip(tip), origin: { requestId, traceId } },
    ]),
  )
}

/** Records an event of each tip. */
export function recordTipEvents(
  uow: Pick<UnitOfWork, 'atEnd'>,
  type: EventType,
  tips: readonly { readonly id: string }[],
): void {
  for (const { id } of tips) recordEvent(uow, type, id, describeTips)
}

/** Money of these creators that was pending is available now. */
export function recordReleases(uow: Pick<UnitOfWork, 'atEnd'>, userIds: ReadonlySet<string>): void {
  for (const userId of userIds) recordEvent(uow, 'balance.available', userId, describeBalances)
}

/** What `balance.available` says: the balance after the release. The subjects are creators. */
const describeBalances: DescribeSubjects = async (trx, userIds) => {
  const contents = new Map<string, EventContent>()
  for (const userId of userIds) {
    const { available, pending, held } = await readBalance(trx, userId, 'USDC')
    const data = {
      availableUSDC: displayNumber(available, 6),
      pendingUSDC: displayNumber(pending, 6),
      heldUSDC: displayNumber(held, 6),
    }
    contents.set(userId, { userId, data })
  }
  return contents
}
