import { setTimeout as sleep } from 'node:timers/promises'
import type { Composed } from '../../src/compose.js'
import { isPayoutReference } from '../../src/kernel/ids.js'
import { compareTransfers } from '../../src/withdrawals/reconcile/compare-statement.js'
import type { OperatorAction } from '../../src/withdrawals/review/operator-actions.js'
import { reconcileNow } from '../../src/withdrawals/work-queue.js'
import {
  acting,
  actorOf,
  CannotDo,
  consentTo,
  exitHelp,
  type Outcome,
  reasonOption,
  runCommand,
  UsageError,
  type Values,
  verbOf,
} from './support/command.js'
import { type ActionResult, runAction } from './support/payout-actions.js'
import {
  historyOf,
  listPayouts,
  payoutJson,
  payoutLine,
  payoutOf,
  payoutText,
} from './support/payout-rows.js'
import { withServices } from './support/with-services.js'

/** Shows withdrawals, asks the provider about them, and does by hand what only a person may decide. */
const help = `npm run ops -- payouts list --state manual_review
npm run ops -- payouts <verb> [<reference>...] [options]

  list                    by state and age, oldest first
  show <reference>        one with everything that happened to it
  ask <reference>...      asks the provider now; the reconciler then does what the answer says
  compare                 the provider's list of the last two days beside ours; exit code 4 when they differ
  replay <reference>...   sends again, always under the same reference; refuses what may have left, unless the provider
                          documents that it refuses a used reference and does not find it
  release <reference>     sends one that waits for an identity, without verifying anybody
  void <reference>        gives the creator the money back; only what was never sent, or is in manual_review and not found
  recredit <reference>    credits the creator again after the money of a completed one came back; once
  close <reference>       closes what is open, once it is dealt with by other means

The last five change nothing without --apply. They ask the provider first, are written to the audit log in the same
transaction, and may be run by two at once.

  --state <state>         list: open (default), all, or a state of the withdrawal or of its sending
  --older-than <minutes>  list
  --limit <n>             list: at most so many, 100 when left out
  --apply                 do it
  --confirm <reference>   what is meant, once more; of several: how many
  --reason <text>         why, for those who ask later; required with --apply
  --as <name>             in whose name, for the audit log; default: the user of the operating system
  --json                  answer as one line of JSON; amounts are base units as decimal text
  --help

${exitHelp}`

const options = {
  ...acting,
  state: { type: 'string' },
  'older-than': { type: 'string' },
  limit: { type: 'string' },
  confirm: { type: 'string' },
  ...reasonOption,
} as const

type Given = Values<typeof options>

type Verb = (services: Composed, references: readonly string[], given: Given) => Promise<Outcome>

const limitMost = 1000
const minutesMost = 1e7
const askMs = 20_000
const pollMs = 250

const verbs = {
  list: async ({ db }, words, { state = 'open', 'older-than': minutes, limit }) => {
    none(words)
    const olderThanSeconds = 60 * whole('--older-than', minutes, 0, minutesMost)
    const wanted = { state, olderThanSeconds, limit: whole('--limit', limit, 100, limitMost) }
    const rows = await listPayouts(db, wanted)
    const text = rows.map(payoutLine).join('\n') || `none is ${state}`
    return { text, json: { payouts: rows.map(payoutJson) } }
  },
  show: async ({ db }, references) => {
    const row = await payoutOf(db, only(references))
    const history = await historyOf(db, row)
    return { text: payoutText(row, history), json: { payout: payoutJson(row), history } }
  },
  ask: async (services, references) => {
    const told: string[] = []
    for (const reference of some(references)) told.push(await ask(services, reference))
    return { text: told.join('\n'), json: { told } }
  },
  compare: async (services, words) => {
    none(words)
    const differences = await compareTransfers(services)
    const lines = differences.map(
      ({ providerReference, kind, ours, theirs }) =>
        `${providerReference}  ${kind}: ours ${ours ?? 'none'}, theirs ${theirs ?? 'none'}`,
    )
    const text = lines.join('\n') || 'the provider’s list and ours say the same'
    return { ok: differences.length === 0, text, json: { differences } }
  },
  replay: deed('replay'),
  release: deed('release'),
  void: deed('void'),
  recredit: deed('recredit'),
  close: deed('close'),
} satisfies Record<string, Verb>
const verbNames = Object.keys(verbs) as (keyof typeof verbs)[]

/** The deeds, each of one withdrawal after the other: what fails leaves the others as they are. */
function deed(name: OperatorAction): Verb {
  return async (services, words, given) => {
    const references = name === 'replay' ? some(words) : [only(words)]
    const { apply = false } = given
    const reason = apply ? consentTo(name, confirmationOf(references), given) : ''
    const order = { deed: name, actor: actorOf(given), reason, apply }
    const results: ActionResult[] = []
    for (const reference of references) {
      if (references.length > 1)
        process.stderr.write(`${results.length + 1} of ${references.length}: ${reference}\n`)
      results.push(await runAction(services, reference, order))
    }
    return outcomeOf(results, apply)
  }
}

/** The reference; of several, how many. */
function confirmationOf(references: readonly string[]): string {
  const [reference = '', ...more] = references
  return more.length === 0 ? reference : String(references.length)
}

/** What was refused makes the whole of it fail, after the rest is done. */
function outcomeOf(results: readonly ActionResult[], apply: boolean): Outcome {
  const refused = results.filter(({ done }) => !done)
  const lines = results.map(({ reference, done, told }) => {
    const state = done && !apply ? `would ${told}; --apply does it` : told
    return `${reference}  ${done && apply ? `done: ${state}` : state}`
  })
  const count = results.length - refused.length
  const text = [...lines, `${apply ? 'done' : 'planned'}: ${count}, refused: ${refused.length}`].join('\n')
  const json = { applied: apply && count > 0, results }
  if (count === 0) throw new CannotDo(text, json)
  return { ok: refused.length === 0, text, json }
}

/** Waits until the reconciler has asked, or says what the provider answers when none does. */
async function ask(services: Composed, reference: string): Promise<string> {
  const before = await payoutOf(services.db, reference)
  const found = await services.payouts.find(before.providerReference)
  const state = found === undefined ? 'does not find it' : `shows it ${found.state}`
  if (!(await reconcileNow(services, before.providerReference)))
    return `${reference}  ${before.status}/${before.sendState}: the provider ${state}`
  const deadline = Date.now() + askMs
  for (;;) {
    const now = await payoutOf(services.db, reference)
    const asked = now.looks !== before.looks
    if (asked || Date.now() > deadline)
      return `${reference}  the provider ${state}; it is ${now.status}/${now.sendState}${asked ? '' : ', and no reconciler is at work'}`
    await sleep(pollMs)
  }
}

function none(words: readonly string[]): void {
  if (words.length > 0) throw new UsageError(`nothing besides options goes here, not ${words.join(' ')}`)
}

function some(references: readonly string[]): readonly string[] {
  if (references.length === 0) throw new UsageError('which one? give a reference, FIATPAY-<32 hex digits>')
  for (const reference of references)
    if (!isPayoutReference(reference)) throw new UsageError(`${reference} is no reference of a withdrawal`)
  return [...new Set(references)]
}

function only(references: readonly string[]): string {
  const [reference, ...more] = some(references)
  if (reference === undefined || more.length > 0) throw new UsageError('give one reference')
  return reference
}

function whole(name: string, text: string | undefined, otherwise: number, most: number): number {
  if (text === undefined) return otherwise
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0 || value > most)
    throw new UsageError(`${name}: a whole number up to ${most}`)
  return value
}

await runCommand({
  help,
  options,
  words: true,
  async run(given, [name, ...references]) {
    const verb = verbOf(name, verbNames)
    return withServices((services) => verbs[verb](services, references, given))
  },
})
