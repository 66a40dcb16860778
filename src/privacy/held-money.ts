import type { Knex } from 'knex'
import { isHolding } from '../fiat/disputes/record-dispute.js'
import type { FieldProblem } from '../kernel/errors.js'
import { displayText, usdcText } from '../kernel/money.js'
import { sqlList } from '../kernel/state-machine.js'
import { lockBalances } from '../ledger/accounts.js'
import { readClaims } from '../ledger/receivables/read-receivables.js'
import { openStatuses } from '../outgoing/lifecycle.js'
import { query } from '../platform/database/database.js'

const decimals = { USDC: 6, NGN: 2 } as const

/** What else than a balance keeps an account from being closed: the count, and what its owner does about it. */
const advice = {
  takeOuts: 'signed and not at their end; wait for them',
  withdrawals: 'not finished; wait for them, or cancel what waits for you',
  reviews: 'with an operator; wait for the mail',
  nairaIntents: 'open for half an hour at most, and may be paid',
  disputes: 'open; wait until the payers’ banks have decided',
  refunds: 'on their way back to their payers; wait for them',
  nairaPayments: 'with an operator, who gives them back or to you',
} as const

/**
 * The money an account has, owes, or may still get or lose by what is under way. Locks the ledger accounts until the transaction ends, so that
 * nothing is posted meanwhile. The caller holds the lock of `lockForClosing`: no withdrawal and no intent is added meanwhile.
 */
export async function findMoney(trx: Knex.Transaction, userId: string): Promise<FieldProblem[]> {
  const balances = await lockBalances(trx, userId)
  const inBalance = balances.flatMap(({ kind, currency, balance }) => {
    const amount = displayText(balance, decimals[currency])
    return balance === 0n ? [] : [{ field: 'balance', problem: `${currency} ${amount} are ${kind}` }]
  })
  const [counts] = await query<Record<keyof typeof advice, number>>(trx, {
    name: 'privacy.money-under-way',
    text: /* sql */ `
      select
        (select count(*) from wallet_transfers where user_id = $1 and state = 'signed')::int as "takeOuts",
        (select count(*) from withdrawals where user_id = $1 and status in (${sqlList(openStatuses)}))::int as withdrawals,
        (select count(*) from review_items r join withdrawals w on w.id = r.withdrawal_id
          where r.resolved_at is null and w.user_id = $1)::int as reviews,
        (select count(*) from fiat_intents where user_id = $1 and client_network is not null)::int as "nairaIntents",
        (select count(*) from disputes d join fiat_intents f on f.id = d.intent_id
          where f.user_id = $1 and ${isHolding})::int as disputes,
        (select count(*) from refunds where user_id = $1 and ended_at is null)::int as refunds,
        (select count(*) from suspense_items s join fiat_payments p using (provider_transaction)
           join fiat_intents f on f.id = p.intent_id
          where s.resolved_at is null and f.user_id = $1)::int as "nairaPayments"`,
    values: [userId],
  })
  const underWay = Object.entries(advice).flatMap(([field, text]) => {
    const count = counts?.[field as keyof typeof advice] ?? 0
    return count === 0 ? [] : [{ field, problem: `${count} ${text}` }]
  })
  const { owed } = await readClaims(trx, userId)
  const debts = {
    field: 'debts',
    problem: `${usdcText(owed)} are owed for tips that went back; what arrives pays it`,
  }
  return [...inBalance, ...underWay, ...(owed === 0n ? [] : [debts])]
}
