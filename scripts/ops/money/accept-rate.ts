import type { Knex } from 'knex'
import { baseUnits, displayText } from '../../../src/kernel/money.js'
import {
  type AcceptedRate,
  findLastAcceptedRate,
  findLastRefusedRate,
  type LastAcceptedRate,
  listRefusedRates,
  recordAcceptedRate,
} from '../../../src/market/accepted-rates.js'
import { isWithin } from '../../../src/market/token-price-guard.js'
import { rateDecimals } from '../../../src/ports/exchange-rates.js'
import {
  defineCommand,
  defineOptions,
  type Outcome,
  reasonedOptions,
  type Values,
} from '../support/command.js'
import { type Order, RefusedError, UsageError } from '../support/order.js'
import { withDatabase } from '../support/services.js'
import { formatAge } from '../support/text.js'

const options = defineOptions(reasonedOptions, {
  '--rate <naira>':
    'the naira for one dollar that you looked up; it must be within 1 % of the rate that was held back',
  '--reason <text>': 'where you looked it up, for the audit log; required with --apply',
  '--apply': 'accept the rate',
})

/** Accepts an exchange rate that was held back because it does not fit. Fiat tips and withdrawals then work again. */
const usage = `npm run ops -- accept-rate [--rate <naira>] [--reason <text> --apply]

An exchange rate that is too far from the last accepted one or from the median of a day, outside RATE_MIN_NGN to
RATE_MAX_NGN, or other than the second feed's stops new fiat tips and withdrawals, because a wrong rate gives money away.
Look up the true rate somewhere else first. An accepted rate starts the comparison anew: for a day, what stays within 3 %
of it is used whatever those limits and the second feed say. If rates were held back that differ by more than 1 %, --rate is
required. Without --apply this shows the rate that was held back and changes nothing.`

/** --rate may differ this much from the rate that was held back; without it, the rates that were held back from one another. */
const tolerancePercent = 1
const mostRead = 1000

interface Plan {
  readonly before: LastAcceptedRate | undefined
  /** The newest rate that was held back; undefined: none. */
  readonly refused: AcceptedRate | undefined
  /** One that was held back before it and differs, unless --rate says which is meant. */
  readonly changed: AcceptedRate | undefined
}

async function readPlan(db: Knex, rate: string | undefined): Promise<Plan> {
  const lookedUp = rate === undefined ? undefined : baseUnits(Number(rate), rateDecimals)
  if (rate !== undefined && lookedUp === undefined)
    throw new UsageError('--rate needs the naira for one dollar, such as 1600.5')
  const [before, heldBack] = await Promise.all([findLastAcceptedRate(db), listRefusedRates(db, mostRead)])
  const [refused, ...earlier] = heldBack
  if (refused !== undefined && lookedUp !== undefined && !isWithin(refused.value, lookedUp, tolerancePercent))
    throw new RefusedError(
      `the feed says ${text(refused.value)}, and --rate says ${rate}: they differ by more than ${tolerancePercent} %`,
    )
  const differs = ({ value }: AcceptedRate) => refused && !isWithin(value, refused.value, tolerancePercent)
  return { before, refused, changed: rate === undefined ? earlier.find(differs) : undefined }
}

type Given = Values<typeof options>

async function run(values: Given, order: Order): Promise<Outcome> {
  order.reason()
  return withDatabase(async (db) => {
    const plan = await readPlan(db, values.rate)
    const { refused, changed } = plan
    if (refused === undefined) return nothingHeldBack(plan)
    const warning =
      changed &&
      `the feed said ${text(changed.value)} and now says ${text(refused.value)}: name the rate that you looked up, with --rate`
    if (order.apply && warning !== undefined) throw new RefusedError(warning)
    const change = { ...lastJson(plan), after: text(refused.value) }
    if (order.apply && !(await accept(db, refused, order, change)))
      return nothingHeldBack(await readPlan(db, undefined))
    const line = `naira for one dollar: ${lastText(plan)} -> ${change.after}`
    return {
      text: warning === undefined ? order.tell(line, 'accepted') : `${line}; ${warning}`,
      json: { applied: order.apply, ...change },
    }
  })
}

function nothingHeldBack(plan: Plan): Outcome {
  return {
    text: `no exchange rate is held back; last accepted, in naira for one dollar: ${lastText(plan)}`,
    json: { applied: false, ...lastJson(plan), after: null },
  }
}

/** The last accepted rate and how old it is. */
function lastText({ before }: Plan): string {
  return before === undefined ? 'none' : `${text(before.value)} (${formatAge(before.ageSeconds)} ago)`
}

function lastJson({ before }: Plan) {
  if (before === undefined) return { before: null, beforeAgeSeconds: null }
  return { before: text(before.value), beforeAgeSeconds: before.ageSeconds }
}

/** False when another operator accepted it meanwhile. */
async function accept(
  db: Knex,
  refused: AcceptedRate,
  order: Order,
  change: Readonly<Record<string, unknown>>,
): Promise<boolean> {
  return db.transaction(async (trx) => {
    // Only one of two operators who accept at the same time finds it.
    await trx.raw('lock table rates in share row exclusive mode')
    if ((await findLastRefusedRate(trx)) === undefined) return false
    const { id } = await recordAcceptedRate(trx, refused, order.by)
    await order.audit(trx, 'accept-rate', `rate:${id}`, change)
    return true
  })
}

function text(value: bigint): string {
  return displayText(value, rateDecimals)
}

export const command = await defineCommand(import.meta, { usage, options, run })
