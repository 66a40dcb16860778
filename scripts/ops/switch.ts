import type { Knex } from 'knex'
import {
  changeSwitch,
  readSwitches,
  type Switch,
  type SwitchName,
  switchNames,
  switchWord,
} from '../../src/platform/database/switches/switches.js'
import {
  defineCommand,
  defineOptions,
  noArguments,
  type Outcome,
  parseVerb,
  reasonedOptions,
  type Values,
} from './support/command.js'

import { applyHint, type Order } from './support/order.js'
import { withDatabase } from './support/services.js'

const options = defineOptions(reasonedOptions, {
  '--reason <text>': "why, for the audit log and the operators' page; required with --apply",
})

/** Lists the switches, and turns one off or on: what is stopped answers 503 until it is started again. */
const usage = `npm run ops -- switch
npm run ops -- switch <name> off|on [--apply --reason <text>]

Without arguments it lists the switches. Every process reads them within two seconds. The calls of what is off, and during
maintenance, answer 503 "Service unavailable" with Retry-After.

  payouts         sending withdrawals and refunds. They are accepted and wait; the same as payouts pause and resume
  intents         new crypto tips: /payments/intent, /sdk/tip, /pay/<code>
  naira-intents   new naira tips: /payments/fiat/intent
  registrations   /auth/register
  swaps           new crypto tips that need a swap engine; others go on
  maintenance     on: no call that changes money. Reads, streams and workers go on; to send nothing either, switch payouts off`

type Given = Values<typeof options>

async function run(_given: Given, order: Order, [name, to, ...more]: readonly string[]): Promise<Outcome> {
  noArguments(more)
  if (name === undefined) return withDatabase(list)
  const change = { name: parseVerb(name, switchNames), to: parseVerb(to, ['off', 'on']) }
  order.reason()
  return withDatabase((db) => turn(db, change, order))
}

async function list(db: Knex): Promise<Outcome> {
  const switches = await readSwitches(db)
  return { text: switches.map(describe).join('\n'), json: { switches: switches.map(present) } }
}

interface Turn {
  readonly name: SwitchName
  readonly to: 'off' | 'on'
}

async function turn(db: Knex, { name, to }: Turn, order: Order): Promise<Outcome> {
  const state = switchWord(name, true) === to ? 'stopped' : 'running'
  const applied =
    order.apply &&
    (await db.transaction(async (trx) => {
      if (!(await changeSwitch(trx, name, state, { by: order.by, reason: order.reason() }))) return false
      await order.audit(trx, `switch ${to}`, `switch:${name}`)
      return true
    }))
  const now = (await readSwitches(db)).find((one) => one.name === name)
  // A release may know a switch before its migration has run.
  if (now === undefined) throw new Error(`the database has no switch ${name}: run npm run migrate`)
  const isThere = switchWord(name, now.stoppedAt !== null) === to
  const next = applied ? '' : isThere ? ': nothing to do' : `; would switch it ${to}; ${applyHint}`
  return { text: `${describe(now)}${next}`, json: { applied, switch: present(now) } }
}

function describe({ name, stoppedAt, changedBy, reason }: Switch): string {
  const since = stoppedAt === null ? '' : ` since ${stoppedAt.toISOString()} by ${changedBy}: ${reason}`
  return `${name}: ${switchWord(name, stoppedAt !== null)}${since}`
}

function present({ name, stoppedAt, changedBy, reason }: Switch): Record<string, unknown> {
  const state = switchWord(name, stoppedAt !== null)
  return { name, state, stoppedAt, changedBy, reason }
}

export const command = await defineCommand(import.meta, { usage, options, allowPositionals: true, run })
