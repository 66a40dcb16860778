import { setTimeout as sleep } from 'node:timers/promises'
import type { Composed } from '../../../../src/compose.js'
import { isPayoutReference } from '../../../../src/kernel/ids.js'
import { nairaText, unitsOfText } from '../../../../src/kernel/money.js'
import { ExchangeRates } from '../../../../src/market/exchange-rates.js'
import { planRelease, type Release } from '../../../../src/withdrawals/confirmation/release.js'
import {
  type ActionOptions,
  checkAction,
  type OperatorAction,
  type Permission,
} from '../../../../src/withdrawals/review/check-action.js'
import { applyAction, isHeld, lockForReview } from '../../../../src/withdrawals/review/operator-actions.js'
import { askIfOld, withdrawalKind } from '../../../../src/withdrawals/withdrawal-kind.js'
import { reconcileNow } from '../../../../src/withdrawals/work-queue.js'
import type { Outcome } from '../command.js'
import { applyHint, type Order, RefusedError, UsageError } from '../order.js'
import { adoptPayout } from './adopt-withdrawal.js'
import type { ActOptions, ListedKind } from './kind.js'
import {
  findPayout,
  listHistory,
  listPayouts,
  payoutJson,
  payoutLine,
  payoutText,
} from './withdrawal-rows.js'

/** How long `ask` waits for the reconciler. */
const askMs = 20_000
const pollMs = 250

const decisions = ['replay', 'release', 'void', 'recredit', 'resolve', 'close', 'reopen'] as const
type Action = 'ask' | 'adopt' | (typeof decisions)[number]
/** The others are done with one at a time. */
const several: readonly Action[] = ['ask', 'replay']

export const withdrawals: ListedKind<Action> = {
  ids: 'a reference: FIATPAY- and 32 hex digits',
  plural: 'payouts',
  one: 'withdrawal',
  secrets: 'ops payouts',
  actions: ['ask', ...decisions, 'adopt'],
  isId: isPayoutReference,
  async list(services, filter) {
    const rows = await listPayouts(services, filter)
    return rows.map((row) => ({
      line: payoutLine(row),
      json: payoutJson(row),
      createdAt: row.createdAt,
      waitsForPerson: row.open.length > 0,
    }))
  },
  async show(services, reference) {
    const row = await findPayout(services, parseReference(reference))
    const history = await listHistory(services.db, row)
    return { text: payoutText(row, history), json: { payout: payoutJson(row), history } }
  },
  async act(services, action, ids, order, options) {
    const references = ids.map(parseReference)
    const [reference = ''] = references
    if (references.length > 1 && !several.includes(action)) throw new UsageError('give exactly one reference')
    if (action === 'ask') return askAll(services, references)
    const confirmation = references.length === 1 ? reference : String(references.length)
    const reason = order.confirmed(action, confirmation)
    if (action === 'adopt') {
      const { creator, usdc } = options
      const debitMicro = usdc === undefined ? undefined : parseUsdc(usdc)
      return adoptPayout(services, { reference, creator, debitMicro }, order)
    }
    return decideAll(services, references, { action, reason, order, ...readOptions(action, options) })
  },
}

function parseReference(text: string): string {
  if (isPayoutReference(text)) return text
  throw new UsageError(`${text} is not the reference of a withdrawal`)
}

/** --now and --paid. Throws UsageError where they do not belong, or --paid is missing. */
function readOptions(action: OperatorAction, { now, paid }: ActOptions): ActionOptions {
  if (now !== undefined && action !== 'recredit') throw new UsageError('--now belongs to recredit')
  if (paid !== undefined && action !== 'resolve') throw new UsageError('--paid belongs to resolve')
  if (action !== 'resolve') return { now: now === true }
  const [, whole, fraction = ''] =
    /^(\d{1,13}|\d{1,3}(?:,\d{3}){1,4})(?:\.(\d{1,2}))?$/.exec(paid ?? '') ?? []
  if (whole === undefined) throw new UsageError('--paid needs naira, such as 15840.00')
  return { paidKobo: BigInt(`${whole.replaceAll(',', '')}${fraction.padEnd(2, '0')}`) }
}

function parseUsdc(text: string): bigint {
  const micro = unitsOfText(text, 6) ?? 0n
  if (micro === 0n) throw new UsageError('--usdc needs dollars, such as 12.50')
  return micro
}

async function askAll(services: Composed, references: readonly string[]): Promise<Outcome> {
  const told: string[] = []
  for (const reference of references) told.push(await ask(services, reference))
  return { text: told.join('\n'), json: { told } }
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

interface Decision extends ActionOptions {
  readonly action: OperatorAction
  readonly reason: string
  readonly order: Order
}

/**
 * One withdrawal after the other, each in its own transaction. Throws RefusedError when every one was refused; `ok` is false when
 * some were.
 */
async function decideAll(
  services: Composed,
  references: readonly string[],
  decision: Decision,
): Promise<Outcome> {
  const { apply } = decision.order
  const results: { reference: string; done: boolean; told: string }[] = []
  for (const reference of references) {
    if (references.length > 1)
      process.stderr.write(`${results.length + 1} of ${references.length}: ${reference}\n`)
    const permission = await decide(services, reference, decision)
    const done = 'done' in permission
    results.push({ reference, done, told: done ? permission.done : `not done: ${permission.refused}` })
  }
  const lines = results.map(({ reference, done, told }) => {
    if (!done) return `${reference}  ${told}`
    return `${reference}  ${apply ? `done: ${told}` : `would ${told}; ${applyHint}`}`
  })
  const count = results.filter(({ done }) => done).length
  const refused = results.length - count
  const text = [...lines, `${apply ? 'done' : 'planned'}: ${count}, refused: ${refused}`].join('\n')
  const json = { applied: apply && count > 0, results }
  if (count === 0) throw new RefusedError(text, json)
  return { ok: refused === 0, text, json }
}

/**
 * Plans or takes one decision. Asks the provider first, then checks it under the withdrawal's lock and writes it to the audit log in
 * the same transaction. Throws ProviderError, RefusedError.
 */
async function decide(
  services: Composed,
  reference: string,
  { action, reason, order, ...options }: Decision,
): Promise<Permission> {
  const row = await findPayout(services, reference)
  // The one decision that does not depend on what the provider shows.
  const isRelease = action === 'release'
  const askedAt = performance.now()
  const found = isRelease ? undefined : await services.payouts.findTransfer(row.providerReference)
  if (isRelease) await new ExchangeRates(services).refresh()
  const asked = await askIfOld(services, [row.id], action === 'resolve')
  const kind = withdrawalKind(services)
  return services.transact(async (uow) => {
    const reviewed = await lockForReview(uow, row.id, found, askedAt)
    if (reviewed === undefined) throw new RefusedError(`there is no withdrawal ${reference}`)
    let permission = checkAction(action, reviewed, kind.rules, options)
    if ('refused' in permission) return permission
    if (isRelease && isHeld(reviewed.withdrawal)) {
      const release = await planRelease(uow.trx, services.config.withdrawals, reviewed.withdrawal)
      permission = { done: `${permission.done}: ${releaseText(release)}` }
    }
    if (!order.apply) return permission
    await applyAction(uow, action, reviewed, { ...options, kind, asked, settings: services.config, reason })
    const { status, sendState, sends } = reviewed.withdrawal
    const provider = found?.state ?? (isRelease ? 'not asked' : 'not found')
    await order.audit(uow.trx, `payouts ${action}`, `payout:${reference}`, {
      before: { status, sendState, sends, provider },
      done: permission.done,
      ...(options.now === true && { now: true }),
    })
    return permission
  })
}

/** What a release sends, for people. */
function releaseText({ netKobo, promisedKobo, givenBack, awaitsConfirmation }: Release): string {
  const net = nairaText(netKobo)
  if (awaitsConfirmation) return `${net} at most`
  if (givenBack) return `${net} at the current rate is too little to send, so the creator gets the money back`
  return netKobo === promisedKobo
    ? net
    : `${net} at the current rate; ${nairaText(promisedKobo)} were promised`
}
