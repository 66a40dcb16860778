import test from 'ava'
import { createConfirmedTips, someConfirmation } from '../helpers/make/confirmed-tips.js'
import { registerCreator, registerPerson, type TestCreator } from '../helpers/make/creators.js'
import { paidTip, requestRefund, workOnRefunds } from '../helpers/make/fiat/refunds.js'
import {
  createWithdrawal,
  creditCreator,
  followOutcome,
  sendDuePayouts,
} from '../helpers/make/withdrawals.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })

type Amounts = Readonly<Record<string, number>>
interface Body {
  readonly statement: {
    readonly year: number
    readonly openingUSDC: number
    readonly closingUSDC: number
    readonly months: readonly (Amounts & { readonly month: unknown })[]
    readonly totals: Amounts
  }
}
const read = async ({ session }: Pick<TestCreator, 'session'>, year: number) =>
  (await world().request<Body>('GET', `/creators/statement?year=${year}`, { session })).body.statement
const lagosYear = () => new Date(Date.now() + 3_600_000).getUTCFullYear()
const round = (usdc: number) => Math.round(usdc * 1e6) / 1e6

async function balanceOf({ session }: Pick<TestCreator, 'session'>): Promise<number> {
  const { body } = await world().request<{ balance: Amounts }>('GET', '/creators/balance', { session })
  const { availableUSDC = 0, pendingUSDC = 0, heldUSDC = 0 } = body.balance
  return round(availableUSDC + pendingUSDC + heldUSDC)
}

test.serial(
  'every month adds up to the balance of the ledger, with tips, refunds and withdrawals',
  async (t) => {
    const ada = await registerCreator(world())
    await world().db('users').where({ id: ada.user.id }).update({ email_verified_at: new Date() })
    const sent = [3_000_000n, 4_500_000n].map((units) => someConfirmation(ada.wallet, { units }))
    await createConfirmedTips(world(), sent)
    const naira = await paidTip(world(), ada)
    await requestRefund(world(), ada, naira, 4)
    await workOnRefunds(world())
    await creditCreator(world(), ada.user.id, 7_000_000n)
    const { reference, amountNGN, systemFeeNGN } = await createWithdrawal(world(), ada, { amountUSDC: 6 })
    await sendDuePayouts(world())
    await followOutcome(world(), reference, 'success')
    // Under way: held, and so still part of the balance.
    await createWithdrawal(world(), ada, { amountUSDC: 1 })
    const year = lagosYear()
    const statement = await read(ada, year)
    t.is(statement.closingUSDC, await balanceOf(ada), 'as the ledger has it, with what is held')
    let balance = statement.openingUSDC
    t.is(balance, 0)
    for (const month of statement.months) {
      balance = round(
        balance +
          (month['receivedUSDC'] ?? 0) +
          (month['otherUSDC'] ?? 0) -
          (month['givenBackUSDC'] ?? 0) -
          (month['withdrawnUSDC'] ?? 0) -
          (month['takenOutUSDC'] ?? 0),
      )
      t.is(balance, Number(month['balanceUSDC']), String(month.month))
    }
    t.is(balance, statement.closingUSDC)
    for (const [name, total] of Object.entries(statement.totals))
      t.is(round(statement.months.reduce((sum, month) => sum + Number(month[name]), 0)), total, name)
    t.like(statement.totals, {
      tips: 3,
      nairaTips: 1,
      paidNGN: 15_200,
      platformFeeUSD: 0.5,
      receivedUSDC: round(7.5 * 0.98 + 9.5),
      otherUSDC: 7,
      withdrawnUSDC: 6,
      amountNGN,
      systemFeeNGN,
    })
    t.is(statement.months.at(-1)?.month, new Date(Date.now() + 3_600_000).toISOString().slice(0, 7))
    t.is((await read(ada, year + 1)).months.length, 0)
    t.is((await read(ada, year + 1)).openingUSDC, statement.closingUSDC)
    t.is((await read(ada, year - 1)).closingUSDC, 0)

    const csv = await fetch(`${world().url}/creators/statement?year=${year}&format=csv`, {
      headers: { cookie: `session=${ada.session}` },
    })
    t.is(csv.headers.get('content-disposition'), `attachment; filename="statement-${year}.csv"`)
    const lines = (await csv.text()).trimEnd().split('\r\n')
    t.is(lines.length, statement.months.length + 2)
    t.regex(lines[0] ?? '', /^month,tips,nairaTips,paidNGN,.*,balanceUSDC$/)
    t.regex(lines.at(-1) ?? '', /^total,3,1,15200,/)
  },
)

test.serial('a year begins at midnight in Lagos, and what is older is the opening balance', async (t) => {
  const ada = await registerPerson(world())
  await creditCreator(world(), ada.user.id, 1_000_000n)
  await creditCreator(world(), ada.user.id, 2_000_000n)
  const year = lagosYear()
  const begins = Date.UTC(year, 0, 1) - 3_600_000
  const { db } = world()
  await db.raw('alter table ledger_transfers disable trigger ledger_transfers_fixed')
  const moved = await db('ledger_transfers as t')
    .join('ledger_entries as e', 'e.transfer_id', 't.id')
    .join('ledger_accounts as a', 'a.id', 'e.account_id')
    .where({ 'a.user_id': ada.user.id })
    .orderBy('t.id')
    .pluck('t.id')
  await db('ledger_transfers')
    .where({ id: moved[0] })
    .update({ created_at: new Date(begins - 1) })
  await db('ledger_transfers')
    .where({ id: moved[1] })
    .update({ created_at: new Date(begins) })
  await db.raw('alter table ledger_transfers enable trigger ledger_transfers_fixed')
  const statement = await read(ada, year)
  t.is(statement.openingUSDC, 1)
  t.is(statement.months[0]?.['otherUSDC'], 2)
  t.like(await read(ada, year - 1), { openingUSDC: 0, closingUSDC: 1 })
})

test('another year than one from 2020 to 2099 is refused, and nobody reads without a session', async (t) => {
  const ada = await registerPerson(world())
  for (const query of [
    '',
    'year=',
    'year=26',
    'year=2019',
    'year=2100',
    'year=2026.5',
    'year=2026&year=2025',
    'year=%00',
  ])
    t.is(
      (await world().request('GET', `/creators/statement?${query}`, ada)).body.error,
      'Invalid year',
      query,
    )
  t.is(
    (await world().request('GET', '/creators/statement?year=2026&format=xml', ada)).body.error,
    'Invalid format',
  )
  t.is((await world().request('GET', '/creators/statement?year=2026')).status, 401)
})
