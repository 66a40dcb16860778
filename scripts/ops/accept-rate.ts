import type { Knex } from 'knex'
import { baseUnits, displayText } from '../../src/kernel/money.js'
import {
  type AcceptedRate,
  acceptRate,
  type LastAccepted,
  lastAccepted,
  lastRefused,
} from '../../src/market/accepted-rates.js'
import { isWithin } from '../../src/market/token-price-guard.js'
import { rateDecimals } from '../../src/ports/exchange-rates.js'
import { ageText } from './support/age.js'
import { audit } from './support/audit.js'
import {
  acting,
  actorOf,
  CannotDo,
  concluded,
  exitHelp,
  type Outcome,
  reasonOf,
  reasonOption,
  runCommand,
  UsageError,
  type Values,
} from './support/command.js'
import { withDatabase } from './support/with-database.js'

/** Accepts an exchange rate that jumped, after somebody has made sure it is true; fiat tips then go on. */
const help = `npm run ops -- accept-rate [--rate <naira>] [--reason <text> --apply]

An exchange rate too far from the last accepted one stops new fiat tips: feeds err by a factor of a hundred, and one
such rate gives money away. Look the rate up elsewhere first. Without --apply nothing is changed; when no rate waits,
there is nothing to do.

  --rate <naira>   naira for a dollar, as looked up; default: what the feed said last. It must be within 1 % of that
  --reason <text>  where it was looked up, for the audit log; wanted with --apply
  --apply          do it
  --as <name>      in whose name, for the audit log; default: the user of the operating system
  --json           answer as one line of JSON
  --help

${exitHelp}`

const options = { ...acting, ...reasonOption, rate: { type: 'string' } } as const

/** What was looked up may be so much from what the feed says. */
const mistakePercent = 1

interface Plan {
  readonly before: LastAccepted | undefined
  /** The one that waits. */
  readonly refused: AcceptedRate | undefined
}

async function planFor(db: Knex, rate: string | undefined): Promise<Plan> {
  const looked = rate === undefined ? undefined : baseUnits(Number(rate), rateDecimals)
  if (rate !== undefined && looked === undefined) throw new UsageError('--rate: naira for a dollar')
  const [before, refused] = await Promise.all([lastAccepted(db), lastRefused(db)])
  if (refused !== undefined && looked !== undefined && !isWithin(refused.value, looked, mistakePercent))
    throw new CannotDo(`the feed says ${text(refused.value)}, which is not ${rate}`)
  return { before, refused }
}

type Given = Values<typeof options>

async function run(values: Given): Promise<Outcome> {
  const applied = values.apply === true
  const note = applied ? reasonOf(values) : ''
  return withDatabase(async (db) => {
    const plan = await planFor(db, values.rate)
    const { refused } = plan
    if (refused === undefined) return nothingWaits(plan)
    const change = { ...lastJson(plan), after: text(refused.value) }
    if (applied && !(await accept(db, refused, actorOf(values), { ...change, note })))
      return nothingWaits(await planFor(db, undefined))
    const told = `naira for a dollar: ${lastText(plan)} -> ${change.after}`
    return { text: concluded(told, 'accepted', applied), json: { applied, ...change } }
  })
}

function nothingWaits(plan: Plan): Outcome {
  return {
    text: `no rate waits to be accepted; last accepted, in naira for a dollar: ${lastText(plan)}`,
    json: { applied: false, ...lastJson(plan), after: null },
  }
}

/** The last accepted rate and how old it is. */
function lastText({ before }: Plan): string {
  return before === undefined ? 'none' : `${text(before.value)} (${ageText(before.ageSeconds)} ago)`
}

function lastJson({ before }: Plan) {
  if (before === undefined) return { before: null, beforeAgeSeconds: null }
  return { before: text(before.value), beforeAgeSeconds: before.ageSeconds }
}

/** False when somebody else accepted one meanwhile. */
async function accept(db: Knex, refused: AcceptedRate, actor: string, details: object): Promise<boolean> {
  return db.transaction(async (trx) => {
    // Two operators at once do it once.
    await trx.raw('lock table rates in share row exclusive mode')
    if ((await lastRefused(trx)) === undefined) return false
    const { id } = await acceptRate(trx, refused, actor)
    await audit(trx, { actor, action: 'accept-rate', subject: `rate:${id}`, details: { ...details } })
    return true
  })
}

function text(value: bigint): string {
  return displayText(value, rateDecimals)
}

await runCommand({ help, options, run })
