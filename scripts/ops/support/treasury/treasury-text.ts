import type { Knex } from 'knex'
import { displayText, nairaText, usdcText } from '../../../../src/kernel/money.js'
import { findLastAcceptedRate } from '../../../../src/market/accepted-rates.js'
import { rateDecimals } from '../../../../src/ports/exchange-rates.js'
import { type FloatReading, findLastReading } from '../../../../src/reserves/float/float-readings.js'
import { exposureOf, koboOf, owedMicro, readPosition } from '../../../../src/reserves/position.js'
import { findLastReport } from '../../../../src/reserves/reports/report-rows.js'
import { dailyPayouts, sumOpenPayouts } from '../../../../src/withdrawals/sums.js'
import type { Outcome } from '../command.js'

/** What the ledger has, what is owed, what the rate can change, and the last readings. */
export async function showTreasury(db: Knex): Promise<Outcome> {
  const position = await readPosition(db)
  const [reading, report] = await Promise.all([findLastReading(db), findLastReport(db)])
  const rate = await findLastAcceptedRate(db)
  const { waiting, underWay } = await sumOpenPayouts(db)
  const day = await dailyPayouts(db)
  const { usdc, ngn } = position
  const exposure = exposureOf(
    position,
    {
      usdc: usdc.custody + usdc.inTransit + usdc.treasury,
      naira: ngn.float + ngn.collections + ngn.inTransit,
    },
    rate?.value,
  )
  const percent = rate && koboOf(exposure.micro, rate.value) / 100n
  const lines: readonly (readonly [string, string] | string)[] = [
    'what is where, by the ledger',
    ['custody wallets of creators', usdcText(usdc.custody)],
    ['in transit to the treasury', usdcText(usdc.inTransit)],
    ['treasury', usdcText(usdc.treasury)],
    ['float', nairaText(ngn.float)],
    ['paid, not settled yet', nairaText(ngn.collections)],
    ['in transit to the float', nairaText(ngn.inTransit)],
    ['owed to us by creators', usdcText(usdc.receivables)],
    'what is owed',
    ['available', usdcText(position.owed.available)],
    ['pending', usdcText(position.owed.pending)],
    ['held for withdrawals', usdcText(position.owed.held)],
    ['creators together', usdcText(owedMicro(position))],
    ['suspense', nairaText(position.owed.suspense)],
    'exposed to the rate',
    ['owed in USDC beyond the USDC we have', usdcText(exposure.micro)],
    ['naira that are there for it', nairaText(exposure.naira)],
    ['what it costs at the last rate', exposure.kobo === undefined ? 'no rate' : nairaText(exposure.kobo)],
    ['the last rate', rate === undefined ? 'none' : `${displayText(rate.value, rateDecimals)} naira`],
    ['1 % of the rate changes it by', percent === undefined ? 'no rate' : nairaText(percent)],
    'what we earned, spent and put in',
    ['naira tips, less written-off debts', usdcText(position.revenue.USDC)],
    ['fees of withdrawals', nairaText(position.revenue.NGN)],
    ['fees of the provider', nairaText(position.providerFees)],
    ['owners, USDC', usdcText(position.equity.USDC)],
    ['owners, naira', nairaText(position.equity.NGN)],
    'the balance at the provider',
    ...readingLines(reading),
    ['withdrawals that wait', nairaText(waiting)],
    ['withdrawals under way', nairaText(underWay)],
    ['withdrawals of a day (95th percentile)', day === undefined ? 'none yet' : nairaText(day)],
    'the last reserve report',
    ['made', report === undefined ? 'none' : report.madeAt.toISOString()],
  ]
  const text = lines.map((line) =>
    typeof line === 'string' ? `\n${line}` : `  ${line[0].padEnd(40)}${line[1].padStart(26)}`,
  )
  return {
    text: text.join('\n').trimStart(),
    json: {
      ...position,
      exposure: exposure,
      rate: rate === undefined ? null : displayText(rate.value, rateDecimals),
      float: reading ?? null,
      waiting,
      underWay,
      dailyPayouts: day ?? null,
      reportMadeAt: report?.madeAt ?? null,
    },
  }
}

function readingLines(reading: FloatReading | undefined): (readonly [string, string])[] {
  if (reading === undefined) return [['read', 'never']]
  const { unexplained } = reading
  const difference =
    unexplained === 0n
      ? 'nothing'
      : `${nairaText(unexplained > 0n ? unexplained : -unexplained)} ${unexplained > 0n ? 'more' : 'less'} than the books`
  return [
    ['read', reading.readAt.toISOString()],
    ['balance', nairaText(reading.balance)],
    ['float by the ledger then', nairaText(reading.book)],
    ['not explained', difference],
  ]
}
