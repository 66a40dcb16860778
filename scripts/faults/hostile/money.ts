import type { Composed } from '../../../src/compose.js'
import { query } from '../../../src/platform/database/database.js'
import type { LedgerRecord } from '../../sandbox/chain/ledger.js'
import type { Stage } from '../world/stage.js'
import { gainOf, readRecord } from './transactions.js'

/** What only the victims may change. */
export async function stateOfVictims({ db, creators }: Stage): Promise<string> {
  const ids = creators.map(({ userId }) => userId)
  const rows = await Promise.all([
    db('users').whereIn('id', ids).orderBy('id').select('email', 'password_hash', 'name'),
    ...[
      'payout_wallets',
      'payees',
      'api_keys',
      'webhook_endpoints',
      'withdrawals',
      'wallet_transfers',
      'totp_factors',
      'passkeys',
    ].map((table) => db(table).whereIn('user_id', ids).count().first()),
  ])
  return JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value))
}

/** No payout is sent, the victims are as they were, and what is credited is what the balances of mutated transactions show. */
export async function compareMoney(
  stage: Stage,
  { chain }: Composed,
  mutants: readonly LedgerRecord[],
  before: string,
  note: (fault: string) => void,
): Promise<void> {
  const { db, sandbox, creators } = stage
  const after = await stateOfVictims(stage)
  if (after !== before) note(`creators were changed: ${before} became ${after}`)
  const { transfers } = sandbox.fiatpay.log()
  if (transfers.length > 0) note(`${transfers.length} payouts were sent`)
  for (const table of ['withdrawals', 'wallet_transfers', 'refunds'])
    if ((await db(table).first('*')) !== undefined) note(`there are rows of ${table}`)
  const others = await db('ledger_accounts')
    .whereNotNull('user_id')
    .whereNotIn(
      'user_id',
      creators.map(({ userId }) => userId),
    )
    .where('balance', '>', 0)
    .first()
  if (others !== undefined) note('an attacker has money')
  const byId = new Map(mutants.map((record) => [record.signature, record]))
  const tips = await query<{ id: string; wallet: string; mint: string; received: string }>(db, {
    name: 'hostility.tips',
    text: `select coalesce(t.main_id, t.id) as id, p.wallet, t.mint, t.received_raw::text as received
      from tips t join parties p on p.id = t.recipient_party where t.status = 'confirmed' and t.kind = 'chain'`,
    values: [],
  })
  for (const { id, wallet, mint, received } of tips) {
    const record = byId.get(id)
    const transaction = record && readRecord(record)
    if (record === undefined) continue
    if (
      transaction === undefined ||
      transaction.failed ||
      gainOf(chain, transaction, wallet, mint) !== BigInt(received)
    )
      note(`a tip of ${received} that the chain does not show: ${JSON.stringify(record.meta)}`)
  }
}
