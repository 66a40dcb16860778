import { setTimeout as sleep } from 'node:timers/promises'
import type { Composed } from '../../../src/compose.js'
import { isPayoutReference } from '../../../src/kernel/ids.js'
import { compareTransfers } from '../../../src/withdrawals/reconcile/compare-statement.js'
import type { ActionOptions, OperatorAction } from '../../../src/withdrawals/review/check-action.js'
import { reconcileNow } from '../../../src/withdrawals/work-queue.js'
import {
  actorOf,
  applyHint,
  defineCommand,
  defineOptions,
  finalOptions,
  type Outcome,
  parseVerb,
  RefusedError,
  requireConfirmation,
  requireReason,
  UsageError,
  type Values,
} from '../support/command.js'
import { adoptPayout } from '../support/payouts/adopt-payout.js'
import { type ActionResult, runAction } from '../support/payouts/payout-actions.js'
import { changePause, type PauseRequest } from '../support/payouts/payout-pause.js'
import {
  findPayout,
  listHistory,
  listPayouts,
  payoutJson,
  payoutLine,
  payoutText,
} from '../support/payouts/payout-rows.js'
import { withServices } from '../support/with-services.js'

const options = defineOptions(finalOptions, {
  '--state <state>':
    'for list: open (default), all, a status, a send state, breaker: waits for a limit or the pause, or\ndispute: waits for a dispute or a debt of its creator',
  '--older-than <minutes>': 'for list: only withdrawals older than this',
  '--limit <n>': 'for list: at most this many; default 100',
  '--now': 'for recredit: do not wait 24 hours',
  '--paid <naira>': 'for resolve: what was really paid, such as 15840.00',
  '--creator <id>': "for adopt: the creator's id or e-mail",
  '--usdc <amount>': 'for adopt: what it cost, such as 12.50; default: by the exchange rate of then',
  '--confirm <reference>': 'the reference once more; for several references: how many they are',
})

/** Shows withdrawals, compares them with the provider, and takes the decisions that only a person may take. */
const usage = `npm run ops -- payouts list --state manual_review
npm run ops -- payouts <command> [<reference>...] [options]

These commands need no --apply:
  list                    withdrawals, oldest first
  show <reference>        one withdrawal with its whole history
  ask <reference>...      asks the provider now; the reconciler then follows the answer
  compare                 compares the provider's list of transfers of the last two days with our withdrawals; exit code 4
                          when they differ

These commands show a plan; with --apply, --confirm and --reason they act:
  replay <reference>...   sends it again under the same reference. Refused when it may have been sent before, unless the
                          provider does not find it and documents that it refuses a used reference
                          (FIATPAY_DEDUPLICATES)
  release <reference>     sends a withdrawal that waits for an identity, without verifying the creator, or one that waits for a
                          payout limit or the review of a debt
  void <reference>        fails the withdrawal and gives the creator the money back. Only if it was never sent, or is in
                          manual_review and the provider does not find it
  recredit <reference>    credits the creator again after the money of a completed withdrawal came back. Refused within 24
                          hours of the first sight of that, because the provider may still pay it; --now does not wait
  resolve <reference> --paid <naira>
                          ends a mismatch: completes the withdrawal with what was really paid, and frees the rest of the
                          hold; with --paid 0 it fails, and all of it is free
  close <reference>       closes the open reviews of a withdrawal that was settled outside the service; moves no money
  adopt <reference>       after a restore: books a withdrawal that the provider has and the database lost, or takes one out of its
                          hold. --creator when the bank account does not say whose it is, --usdc when its debit is known
  reopen <reference>      opens again what close has closed

These need no --confirm:
  pause                   nothing new is sent once this returns, until resume; withdrawals are accepted and wait
  resume                  sends what waited

All of them except release, pause and resume ask the provider first. Every action is written to the audit log in the same
transaction. If two operators run the same action at the same time, it is done once.`

type Given = Values<typeof options>

type Verb = (services: Composed, references: readonly string[], given: Given) => Promise<Outcome>

const maxLimit = 1000
const maxMinutes = 1e7
/** How long `ask` waits for the reconciler. */
const askMs = 20_000
const pollMs = 250

const verbs = {
  list: async (services, positionals, { state = 'open', 'older-than': minutes, limit }) => {
    refusePositionals(positionals)
    const olderThanSeconds = 60 * parseWhole('--older-than', minutes, 0, maxMinutes)
    const filter = { state, olderThanSeconds, limit: parseWhole('--limit', limit, 100, maxLimit) }
    const rows = await listPayouts(services, filter)
    const text = rows.map(payoutLine).join('\n') || `no withdrawal is ${state}`
    return { text, json: { payouts: rows.map(payoutJson) } }
  },
  show: async (services, references) => {
    const row = await findPayout(services, parseOneReference(references))
    const history = await listHistory(services.db, row)
    return { text: payoutText(row, history), json: { payout: payoutJson(row), history } }
  },
  ask: async (services, references) => {
    const answers: string[] = []
    for (const reference of parseReferences(references)) answers.push(await ask(services, reference))
    return { text: answers.join('\n'), json: { told: answers } }
  },
  compare: async (services, positionals) => {
    refusePositionals(positionals)
    const differences = await compareTransfers(services)
    const lines = differences.map(
      ({ providerReference, kind, ours, theirs }) =>
        `${providerReference}  ${kind}: ours ${ours ?? 'none'}, the provider's ${theirs ?? 'none'}`,
    )
    const text = lines.join('\n') || "no difference between the provider's list and ours"
    return { ok: differences.length === 0, text, json: { differences } }
  },
  replay: action('replay'),
  release: action('release'),
  void: action('void'),
  recredit: action('recredit'),
  resolve: action('resolve'),
  close: action('close'),
  reopen: action('reopen'),
  adopt: async (services, positionals, given) => {
    const reference = parseOneReference(positionals)
    const { apply = false, creator, usdc } = given
    const reason = apply ? requireConfirmation('adopt', reference, given) : ''
    const debitMicro = usdc === undefined ? undefined : parseUsdc(usdc)
    return adoptPayout(services, { reference, creator, debitMicro, actor: actorOf(given), reason, apply })
  },
  pause: pause('pause'),
  resume: pause('resume'),
} satisfies Record<string, Verb>
const verbNames = Object.keys(verbs) as (keyof typeof verbs)[]

/** An action on one withdrawal after the other, each in its own transaction. */
function action(name: OperatorAction): Verb {
  return async (services, positionals, given) => {
    const references = name === 'replay' ? parseReferences(positionals) : [parseOneReference(positionals)]
    const { apply = false } = given
    const reason = apply ? requireConfirmation(name, confirmationOf(references), given) : ''
    const request = { action: name, actor: actorOf(given), reason, apply, ...readOptions(name, given) }
    const results: ActionResult[] = []
    for (const reference of references) {
      if (references.length > 1)
        process.stderr.write(`${results.length + 1} of ${references.length}: ${reference}\n`)
      results.push(await runAction(services, reference, request))
    }
    return outcomeOf(results, apply)
  }
}

function pause(to: PauseRequest['to']): Verb {
  return async (services, positionals, given) => {
    refusePositionals(positionals)
    const { apply = false } = given
    return changePause(services, {
      to,
      actor: actorOf(given),
      reason: apply ? requireReason(given) : '',
      apply,
    })
  }
}

/** --now and --paid. Throws UsageError where they do not belong, or --paid is missing. */
function readOptions(name: OperatorAction, { now, paid }: Given): ActionOptions {
  if (now !== undefined && name !== 'recredit') throw new UsageError('--now belongs to recredit')
  if (paid !== undefined && name !== 'resolve') throw new UsageError('--paid belongs to resolve')
  if (name !== 'resolve') return { now: now === true }
  const [, whole, fraction = ''] =
    /^(\d{1,13}|\d{1,3}(?:,\d{3}){1,4})(?:\.(\d{1,2}))?$/.exec(paid ?? '') ?? []
  if (whole === undefined) throw new UsageError('--paid needs naira, such as 15840.00')
  return { paidKobo: BigInt(`${whole.replaceAll(',', '')}${fraction.padEnd(2, '0')}`) }
}

function parseUsdc(text: string): bigint {
  const [, whole, fraction = ''] = /^(\d{1,12})(?:\.(\d{1,6}))?$/.exec(text) ?? []
  const micro = whole === undefined ? 0n : BigInt(`${whole}${fraction.padEnd(6, '0')}`)
  if (micro === 0n) throw new UsageError('--usdc needs dollars, such as 12.50')
  return micro
}

/** What --confirm must be: the reference, or of several how many. */
function confirmationOf(references: readonly string[]): string {
  const [reference = '', ...more] = references
  return more.length === 0 ? reference : String(references.length)
}

/** Throws RefusedError when every action was refused; `ok` is false when some were. */
function outcomeOf(results: readonly ActionResult[], apply: boolean): Outcome {
  const refused = results.filter(({ done }) => !done)
  const lines = results.map(({ reference, done, message }) => {
    if (!done) return `${reference}  ${message}`
    return `${reference}  ${apply ? `done: ${message}` : `would ${message}; ${applyHint}`}`
  })
  const count = results.length - refused.length
  const text = [...lines, `${apply ? 'done' : 'planned'}: ${count}, refused: ${refused.length}`].join('\n')
  const json = {
    applied: apply && count > 0,
    results: results.map(({ reference, done, message }) => ({ reference, done, told: message })),
  }
  if (count === 0) throw new RefusedError(text, json)
  return { ok: refused.length === 0, text, json }
}

/** Asks the provider, then waits until the reconciler has asked too and followed the answer. */
async function ask(services: Composed, reference: string): Promise<string> {
  const before = await findPayout(services, reference)
  const found = await services.payouts.findTransfer(before.providerReference)
  const answer = `the provider ${found === undefined ? 'does not find it' : `shows it ${found.state}`}`
  if (!(await reconcileNow(services, before.providerReference)))
    return `${reference}  ${before.status}/${before.sendState}: ${answer}`
  const deadline = Date.now() + askMs
  for (;;) {
    const now = await findPayout(services, reference)
    const isReconciled = now.looks !== before.looks
    if (isReconciled || Date.now() > deadline) {
      const missing = isReconciled ? '' : '. The reconciler did not react: is the process running?'
      return `${reference}  ${answer}; here it is ${now.status}/${now.sendState}${missing}`
    }
    await sleep(pollMs)
  }
}

function refusePositionals(positionals: readonly string[]): void {
  if (positionals.length > 0)
    throw new UsageError(`only options may follow here, not ${positionals.join(' ')}`)
}

/** Each reference once. Throws UsageError when there is none, or one is malformed. */
function parseReferences(references: readonly string[]): readonly string[] {
  if (references.length === 0) throw new UsageError('give a reference: FIATPAY- and 32 hex digits')
  for (const reference of references)
    if (!isPayoutReference(reference))
      throw new UsageError(`${reference} is not the reference of a withdrawal`)
  return [...new Set(references)]
}

function parseOneReference(references: readonly string[]): string {
  const [reference, ...more] = parseReferences(references)
  if (reference === undefined || more.length > 0) throw new UsageError('give exactly one reference')
  return reference
}

function parseWhole(name: string, text: string | undefined, fallback: number, max: number): number {
  if (text === undefined) return fallback
  const value = Number(text)
  if (!Number.isInteger(value) || value < 0 || value > max)
    throw new UsageError(`${name} needs a whole number from 0 to ${max}`)
  return value
}

export const command = await defineCommand(import.meta, {
  usage,
  amounts: 'base units',
  options,
  allowPositionals: true,
  async run(given, [name, ...references]) {
    const verb = parseVerb(name, verbNames)
    return withServices('ops payouts', (services) => verbs[verb](services, references, given))
  },
})
