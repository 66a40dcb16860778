import { query } from '../../../src/platform/database/database.js'
import { countBy } from '../../kit/report.js'
import { refundStatus } from '../../sandbox/fiatpay/wire.js'
import { compareMoves } from './compare-moves.js'
import { compareTransfers } from './compare-payouts.js'
import type { Stage } from './stage.js'
import type { Truth } from './truth.js'

export interface FinalCheck {
  readonly faults: readonly string[]
  /** Withdrawals, refunds, sweeps and take-outs by their state, and payouts that the bank has executed. */
  readonly counts: Readonly<Record<string, number>>
}

/** Compares every tip, payment, payout, refund, dispute, sweep and take-out with what chain and bank did. */
export async function checkEverything(stage: Stage, truth: Truth): Promise<FinalCheck> {
  const { db, sandbox, creators } = stage
  const wallets = creators.map(({ wallet }) => wallet)
  const moves = await compareMoves(db, sandbox.chain, wallets)
  const { transfers } = sandbox.fiatpay.log()
  const payouts = await compareTransfers(db, transfers)
  const endings = Object.entries(payouts.endings).map(([state, count]) => [`withdrawals: ${state}`, count])
  const refunds: { source: string; status: string }[] = await db('refunds').select('source', 'status')
  return {
    counts: {
      ...moves.counts,
      ...Object.fromEntries(endings),
      ...countBy(refunds.map(({ source, status }) => `refunds of ${source}: ${status}`)),
      'payouts executed': transfers.length,
    },
    faults: [
      ...(await cryptoFaults(stage, truth)),
      ...(await paymentFaults(stage)),
      ...payouts.faults,
      ...(await refundFaults(stage, truth)),
      ...(await disputeFaults(stage)),
      ...moves.faults,
    ],
  }
}

interface Credit {
  readonly signature: string
  readonly userId: string
  readonly credits: number
  readonly micro: string
}

/** Each tip in USDC that landed, and each deposit that was found, is credited once with what arrived, and nothing else is. */
async function cryptoFaults({ db }: Stage, { landed: tips, deposits }: Truth): Promise<string[]> {
  const credits = await query<Credit>(db, {
    name: 'world.credits',
    text: /* sql */ `
      select split_part(t.idem, ':', 2) as signature, max(a.user_id::text) as "userId", count(*)::int4 as credits,
        sum(e.amount)::text as micro
      from ledger_transfers t join ledger_entries e on e.transfer_id = t.id join ledger_accounts a on a.id = e.account_id
      where t.kind = 'post' and t.idem like 'tip:%' and a.kind = 'available' group by 1`,
    values: [],
  })
  const bySignature = new Map(credits.map((credit) => [credit.signature, credit]))
  // The finder may not have come to a deposit yet.
  const found = [...deposits].filter(([signature]) => bySignature.has(signature))
  const landed = new Map([...tips, ...found])
  return [
    ...credits
      .filter(({ signature }) => !landed.has(signature))
      .map(({ signature }) => `${signature} was credited, and it is no tip`),
    ...[...landed].flatMap(([signature, { userId, micro }]) => {
      const credit = bySignature.get(signature)
      if (micro === 0n && credit === undefined) return []
      const isRight = credit?.credits === 1 && credit.userId === userId && BigInt(credit.micro) === micro
      return isRight
        ? []
        : [`${signature} brought ${micro} to ${userId}, and credited ${JSON.stringify(credit)}`]
    }),
  ]
}

/** Each payment at the bank is booked once, and none that the bank does not have. */
async function paymentFaults({ db, sandbox: { fiatpay } }: Stage): Promise<string[]> {
  const rows: { idem: string }[] = await db('ledger_transfers')
    .whereRaw(`idem ~ '^fiatpay:[0-9]+$'`)
    .select('idem')
  const booked = new Set(rows.map(({ idem }) => idem))
  const paid = fiatpay.charges.all().flatMap(({ payments }) => payments.map(({ id }) => `fiatpay:${id}`))
  return [
    ...paid.filter((key) => !booked.has(key)).map((key) => `${key} was paid, and is not booked`),
    ...(booked.size === paid.length ? [] : [`${paid.length} payments, and ${booked.size} bookings`]),
  ]
}

/** Each refund is at the bank at most once, with its amount, and ended as the bank says. None that was answered is missing. */
async function refundFaults({ db, sandbox: { fiatpay } }: Stage, truth: Truth): Promise<string[]> {
  const rows: { id: string; request_id: string; source: string; status: string; kobo: bigint }[] = await db(
    'refunds',
  ).select('id', 'request_id', 'source', 'status', 'kobo')
  const requests = new Set(rows.flatMap((row) => (row.source === 'tip' ? [row.request_id] : [])))
  const taken = fiatpay.refunds.all().filter((refund) => refundStatus(refund) !== 'failed')
  const notes = new Set(rows.map(({ id }) => id))
  return [
    ...truth.refunds
      .filter((id) => !requests.has(id))
      .map((id) => `refund ${id} was answered, and is not there`),
    ...(requests.size === truth.refunds.length
      ? []
      : [`${truth.refunds.length} refunds of tips were answered, and there are ${requests.size}`]),
    ...taken
      .filter(({ note }) => !notes.has(note))
      .map(({ id }) => `refund ${id} is at the bank, and nobody asked for it`),
    ...rows.flatMap(({ id, status, kobo }) => {
      const ours = taken.filter(({ note }) => note === id)
      const isRight =
        ours.length === (status === 'completed' ? 1 : 0) &&
        ours.every(({ amountKobo }) => BigInt(amountKobo) === BigInt(kobo))
      return isRight
        ? []
        : [`refund ${id} of ${kobo} kobo is ${status}, and at the bank ${ours.length} times`]
    }),
  ]
}

/** Each dispute ended as the bank decided, and a lost one left the books once. */
async function disputeFaults({ db, sandbox: { fiatpay } }: Stage): Promise<string[]> {
  const rows: { id: string; state: string }[] = await db('disputes').select('id', 'state')
  const states = new Map(rows.map(({ id, state }) => [id, state]))
  const left: { idem: string }[] = await db('ledger_transfers')
    .whereLike('idem', 'dispute:%:returned')
    .select('idem')
  const lost = fiatpay.disputes.all().filter(({ takenKobo }) => takenKobo > 0)
  return [
    ...fiatpay.disputes.all().flatMap(({ id, takenKobo }) => {
      const expected = takenKobo > 0 ? 'lost' : 'won'
      const state = states.get(String(id))
      return state === expected ? [] : [`dispute ${id} was ${expected}, and is ${state}`]
    }),
    ...(left.length === lost.length
      ? []
      : [`${lost.length} disputes were lost, and ${left.length} are booked`]),
  ]
}
