import type { Knex } from 'knex'
import { z } from 'zod'
import { signedIn } from '../accounts/sessions/auth.js'
import { answerCsv, csvText } from '../http/csv.js'
import { answered, type Route, route } from '../http/endpoint.js'
import { formatInput } from '../http/paging.js'
import { displayNumber } from '../kernel/money.js'
import { query } from '../platform/database/database.js'
import type { Services } from '../services.js'

/** Whose months and years: those of the tax office. */
const timeZone = 'Africa/Lagos'

const amount = z.number()
/** What one month, or the year, adds up to. Dollars are sums of ledger entries, so they add up to the balance. */
const sums = {
  tips: z.number().int(),
  nairaTips: z.number().int(),
  paidNGN: amount,
  platformFeeUSD: amount,
  receivedUSDC: amount,
  givenBackUSDC: amount,
  withdrawnUSDC: amount,
  takenOutUSDC: amount,
  otherUSDC: amount,
  amountNGN: amount,
  systemFeeNGN: amount,
}
const month = z.object({ month: z.string(), ...sums, balanceUSDC: amount })
type Month = z.output<typeof month>

export const yearlyStatementAnswer = z.object({
  success: z.literal(true),
  statement: z.object({
    year: z.number().int(),
    timeZone: z.string(),
    openingUSDC: amount,
    months: z.array(month),
    totals: z.object(sums),
    closingUSDC: amount,
  }),
})
type YearlyStatement = z.output<typeof yearlyStatementAnswer>['statement']

const input = z.object({
  year: z
    .string('invalid_year')
    .regex(/^20[2-9]\d$/, 'invalid_year')
    .transform(Number)
    .meta({ description: 'Of Lagos: 2020 to 2099' }),
  format: formatInput,
})

/** `GET /creators/statement`. It stands here because it has tips, the ledger and withdrawals. */
export function yearlyStatementRoute({ reads }: Pick<Services, 'reads'>): Route {
  return route(
    {
      method: 'get',
      path: '/creators/statement',
      summary: 'What came in and went out in each month of a year',
      credential: 'session',
      limit: 'reads',
      input,
      invalid: 'invalid_year',
      output: yearlyStatementAnswer,
      errors: ['unauthorized', 'invalid_format'],
      csv: true,
    },
    async ({ year, format }, ctx) => {
      const { id } = signedIn(ctx).account
      const statement = await reads((db) => readYearlyStatement(db, id, year))
      if (format === 'json') return { statement }
      answerCsv(ctx, `statement-${year}.csv`, statementCsv(statement), null)
      return answered
    },
  )
}

/** What moved a creator's dollars, by the beginning of a transfer's key (docs/money.md). Any other key: `other`. */
const causes: Readonly<Record<string, keyof Moved>> = {
  tip: 'received',
  fiatpay: 'received',
  refund: 'givenBack',
  dispute: 'givenBack',
  reversal: 'givenBack',
  withdrawal: 'withdrawn',
  'take-out': 'takenOut',
  adopted: 'takenOut',
}

/** Micro-USDC, positive into the account. */
interface Moved {
  received: bigint
  givenBack: bigint
  withdrawn: bigint
  takenOut: bigint
  other: bigint
}
const nothingMoved: Readonly<Moved> = { received: 0n, givenBack: 0n, withdrawn: 0n, takenOut: 0n, other: 0n }

/** Whole kobo and micro-dollars. */
interface Facts {
  readonly tips: number
  readonly nairaTips: number
  readonly paidKobo: bigint
  readonly feeMicro: bigint
  readonly netKobo: bigint
  readonly withdrawalFeeKobo: bigint
}
const noFacts: Facts = {
  tips: 0,
  nairaTips: 0,
  paidKobo: 0n,
  feeMicro: 0n,
  netKobo: 0n,
  withdrawalFeeKobo: 0n,
}

/** 0: before the year. */
type InMonth<Row> = Row & { readonly month: number }

const beginning = (year: string): string => `make_timestamptz(${year}, 1, 1, 0, 0, 0, '${timeZone}')`
const yearSql = `(select ${beginning('$2::int')} as begins, ${beginning('$2::int + 1')} as ends) year`
const monthOf = (column: string): string => `extract(month from ${column} at time zone '${timeZone}')::int`

/**
 * The year of a creator, month by month up to now. The dollars are those of the ledger: the balance at the end of a month is the one
 * before it, and what came in, less what left. Naira are what payers paid and what banks were sent.
 */
async function readYearlyStatement(db: Knex, userId: string, year: number): Promise<YearlyStatement> {
  const values = [userId, year]
  // One after the other: a statement is rare, and must not take the pool's connections from tips.
  const moves = await query<InMonth<{ cause: string; micro: bigint }>>(db, {
    name: 'statement.moves',
    text: /* sql */ `
      with moved as (
        select t.created_at, split_part(t.idem, ':', 1) as cause, e.amount
          from ledger_entries e join ledger_transfers t on t.id = e.transfer_id
         where e.account_id = any(array(select id from ledger_accounts where user_id = $1 and currency = 'USDC')))
      select case when created_at < begins then 0 else ${monthOf('created_at')} end as month, cause, sum(amount)::bigint as micro
      from moved, ${yearSql} where created_at < ends group by 1, 2`,
    values,
  })
  const tips = await query<InMonth<Pick<Facts, 'tips' | 'nairaTips' | 'paidKobo' | 'feeMicro'>>>(db, {
    name: 'statement.tips',
    text: /* sql */ `
      select ${monthOf('confirmed_at')} as month, count(*)::int as tips, count(*) filter (where kind = 'fiat')::int as "nairaTips",
        coalesce(sum(round((fiat_details->>'amountNgn')::numeric * 100)), 0)::bigint as "paidKobo",
        coalesce(sum(round((fiat_details->>'platformFee')::numeric * 1000000)), 0)::bigint as "feeMicro"
      from tips, ${yearSql}
      where recipient_party = (select id from parties where user_id = $1) and status = 'confirmed'
        and confirmed_at >= begins and confirmed_at < ends
      group by 1`,
    values,
  })
  // One that came back is taken out again in the month in which it did, as in the ledger.
  const payouts = await query<InMonth<Pick<Facts, 'netKobo' | 'withdrawalFeeKobo'>>>(db, {
    name: 'statement.payouts',
    text: /* sql */ `
      select ${monthOf('at')} as month, sum(sign * coalesce(paid_kobo, net_kobo))::bigint as "netKobo",
        sum(sign * coalesce(paid_fee_kobo, fee_kobo))::bigint as "withdrawalFeeKobo"
      from withdrawals cross join lateral (values (completed_at, 1), (recredited_at, -1)) ended (at, sign), ${yearSql}
      where user_id = $1 and at >= begins and at < ends
      group by 1`,
    values,
  })
  const [{ months } = { months: 0 }] = await query<{ months: number }>(db, {
    name: 'statement.months',
    text: /* sql */ `
      select case when now() < begins then 0 when now() >= ends then 12 else ${monthOf('now()')} end as months
      from ${yearSql} where $1::uuid is not null`,
    values,
  })
  const movedIn = (wanted: number): Moved => {
    const sums = { ...nothingMoved }
    for (const { month, cause, micro } of moves) if (month === wanted) sums[causes[cause] ?? 'other'] += micro
    return sums
  }
  const factsIn = (wanted: number): Facts => ({
    ...noFacts,
    ...tips.find(({ month }) => month === wanted),
    ...payouts.find(({ month }) => month === wanted),
  })
  const numbers = Array.from({ length: months }, (_, at) => at + 1)
  const opening = netOf(movedIn(0))
  let balance = opening
  const lines = numbers.map((number): Month => {
    const moved = movedIn(number)
    balance += netOf(moved)
    const name = `${year}-${String(number).padStart(2, '0')}`
    return { month: name, ...present(factsIn(number), moved), balanceUSDC: usdc(balance) }
  })
  return {
    year,
    timeZone,
    openingUSDC: usdc(opening),
    months: lines,
    totals: present(sumUp(numbers.map(factsIn), noFacts), sumUp(numbers.map(movedIn), nothingMoved)),
    closingUSDC: usdc(balance),
  }
}

const usdc = (micro: bigint): number => displayNumber(micro, 6)
const naira = (kobo: bigint): number => displayNumber(kobo, 2)
const netOf = (moved: Moved): bigint =>
  Object.values(moved).reduce((sum: bigint, part: bigint) => sum + part, 0n)

/** Adds up rows, field by field. */
function sumUp<Row extends object>(rows: readonly Row[], nothing: Row): Row {
  const fields = Object.keys(nothing) as (keyof Row)[]
  // A field is a number in every row, or a bigint in every row.
  return rows.reduce(
    (sum, row) =>
      Object.fromEntries(
        fields.map((field) => [field, (sum[field] as bigint) + (row[field] as bigint)]),
      ) as Row,
    nothing,
  )
}

/** What left is shown as a positive amount. */
function present(facts: Facts, moved: Moved): YearlyStatement['totals'] {
  return {
    tips: facts.tips,
    nairaTips: facts.nairaTips,
    paidNGN: naira(facts.paidKobo),
    platformFeeUSD: usdc(facts.feeMicro),
    receivedUSDC: usdc(moved.received),
    givenBackUSDC: usdc(-moved.givenBack),
    withdrawnUSDC: usdc(-moved.withdrawn),
    takenOutUSDC: usdc(-moved.takenOut),
    otherUSDC: usdc(moved.other),
    amountNGN: naira(facts.netKobo),
    systemFeeNGN: naira(facts.withdrawalFeeKobo),
  }
}

const columns = ['month', ...(Object.keys(sums) as (keyof typeof sums)[]), 'balanceUSDC'] as const

function statementCsv({ months, totals, closingUSDC }: YearlyStatement): string {
  const rows = [...months, { month: 'total', ...totals, balanceUSDC: closingUSDC }]
  return csvText(
    columns,
    rows.map((row) => columns.map((column) => row[column])),
  )
}
