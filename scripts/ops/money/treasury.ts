import { createHash } from 'node:crypto'
import type { Knex } from 'knex'
import { displayText, nairaText, unitsOfText, usdcText } from '../../../src/kernel/money.js'
import { booksStatementMs } from '../../../src/ledger/invariants.js'
import { findLastAcceptedRate } from '../../../src/market/accepted-rates.js'
import { rateDecimals } from '../../../src/ports/exchange-rates.js'
import { type FloatReading, findLastReading } from '../../../src/reserves/float/float-readings.js'
import { exposureOf, koboOf, owedMicro, readPosition } from '../../../src/reserves/position.js'
import type { OutsideEvent } from '../../../src/reserves/record-entries.js'
import { findLastReport } from '../../../src/reserves/reports/report-rows.js'
import { dailyPayouts, sumOpenPayouts } from '../../../src/withdrawals/sums.js'
import {
  defineCommand,
  defineOptions,
  type Outcome,
  parseVerb,
  reasonedOptions,
  type Values,
} from '../support/command.js'
import { type Order, UsageError } from '../support/order.js'
import { withDatabase } from '../support/services.js'
import { checkOutside, recordOutside } from '../support/treasury/record-outside.js'

const options = defineOptions(reasonedOptions, {
  '--usdc <amount>': 'USDC with at most 6 decimals, such as 1500.25',
  '--ngn <amount>': 'naira with at most 2 decimals',
  '--evidence <text>': 'what proves it, such as the number of a bank statement',
  '--reference <text>': "the event's own number: letters, digits and ._:/- , at most 80",
  '--out': 'the owners took it out',
})

/** Shows where the money is, what is owed and what the rate can change; records what happened outside the service. */
const usage = `npm run ops -- treasury [--json]
npm run ops -- treasury record-sale --usdc <amount> --ngn <amount> --evidence <text> [--reference <text>]
npm run ops -- treasury record-equity (--usdc <amount> | --ngn <amount>) --evidence <text> [--out] [--reference <text>]
npm run ops -- treasury record-fee --ngn <amount> --evidence <text> [--reference <text>]

Without a verb it prints what the ledger has, and the last reading of the balance at the provider and of the reserve report. It
changes nothing.

  record-sale    USDC of the treasury were sold for naira outside. Refused when the ledger's treasury has less
  record-equity  the owners put money in or took it out (--out); also what was there before the books began, and the fees of
                 crypto tips that arrived in the treasury
  record-fee     a charge of the provider that it names at no payment and no transfer

Recorded naira are in transit until the provider's balance shows them; with --out, or as a fee, they have left it. One event
per kind and reference is booked; the same again changes nothing. Without --reference it is made of the amounts and the
evidence. These show a plan; with --apply and --reason they book it.`

type Given = Values<typeof options>

const verbs = ['record-sale', 'record-equity', 'record-fee'] as const
type Verb = (typeof verbs)[number]

/** Far above any amount, and far below what the ledger can hold. */
const tooMany = 10n ** 17n

/** Exact: a JSON number could not say 0.000001 of a million. */
function units(name: 'usdc' | 'ngn', { [name]: text }: Given): bigint | undefined {
  if (text === undefined) return undefined
  const decimals = name === 'usdc' ? 6 : 2
  const amount = unitsOfText(text, decimals) ?? 0n
  if (amount === 0n || amount >= tooMany)
    throw new UsageError(`--${name} needs an amount above zero with at most ${decimals} decimals`)
  return amount
}

function needed(name: 'usdc' | 'ngn', given: Given): bigint {
  const amount = units(name, given)
  if (amount === undefined) throw new UsageError(`--${name} is missing`)
  return amount
}

function eventOf(verb: Verb, given: Given): OutsideEvent {
  if (given.out === true && verb !== 'record-equity') throw new UsageError('--out belongs to record-equity')
  if (verb === 'record-sale')
    return { kind: 'sale', micro: needed('usdc', given), kobo: needed('ngn', given) }
  if (verb === 'record-fee') {
    if (given.usdc !== undefined) throw new UsageError('record-fee takes --ngn only')
    return { kind: 'fee', kobo: needed('ngn', given) }
  }
  const [micro, kobo] = [units('usdc', given), units('ngn', given)]
  const direction = given.out === true ? 'out' : 'in'
  if (micro !== undefined && kobo === undefined)
    return { kind: 'equity', currency: 'USDC', units: micro, direction }
  if (kobo !== undefined && micro === undefined)
    return { kind: 'equity', currency: 'NGN', units: kobo, direction }
  throw new UsageError('record-equity takes either --usdc or --ngn')
}

function describe(event: OutsideEvent): string {
  if (event.kind === 'sale')
    return `treasury -${usdcText(event.micro)}, in transit to the float +${nairaText(event.kobo)}`
  if (event.kind === 'fee') return `float -${nairaText(event.kobo)}, provider fees +${nairaText(event.kobo)}`
  const { currency, direction } = event
  const amount = currency === 'USDC' ? usdcText(event.units) : nairaText(event.units)
  const sign = direction === 'in' ? '+' : '-'
  if (currency === 'USDC') return `treasury ${sign}${amount}, equity ${sign}${amount}`
  return `${direction === 'in' ? 'in transit to the float' : 'float'} ${sign}${amount}, equity ${sign}${amount}`
}

function referenceOf(event: OutsideEvent, { reference, evidence }: Given): string {
  if (reference === undefined) {
    const content = JSON.stringify([describe(event), evidence?.trim()])
    return createHash('sha256').update(content).digest('hex').slice(0, 16)
  }
  if (!/^[\w.:/-]{1,80}$/.test(reference))
    throw new UsageError('--reference takes at most 80 letters, digits and ._:/-')
  return reference
}

async function record(verb: Verb, given: Given, order: Order): Promise<Outcome> {
  const event = eventOf(verb, given)
  const evidence = given.evidence?.trim()
  if (!evidence || evidence.length > 500)
    throw new UsageError('--evidence needs a text of at most 500 characters')
  const reference = referenceOf(event, given)
  const { apply } = order
  order.reason()
  const change = describe(event)
  return withDatabase(async (db) => {
    const repeated = apply
      ? await recordOutside(db, { event, reference, evidence }, order)
      : await checkOutside(db, event, reference)
    const text = repeated
      ? `recorded before under the reference ${reference}: nothing changed`
      : order.tell(`${change} (reference ${reference})`, 'recorded')
    return { text, json: { applied: apply && !repeated, repeated, reference, ...event } }
  }, booksStatementMs)
}

/** What the ledger has, what is owed, what the rate can change, and the last readings. */
async function showTreasury(db: Knex): Promise<Outcome> {
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

export const command = await defineCommand(import.meta, {
  usage,
  amounts: 'kobo and micro-USDC',
  options,
  allowPositionals: true,
  async run(given, order, [verb, ...more]) {
    if (more.length > 0) throw new UsageError(`unexpected ${more.join(' ')}`)
    if (verb === undefined) return withDatabase(showTreasury, booksStatementMs)
    return record(parseVerb(verb, verbs), given, order)
  },
})
