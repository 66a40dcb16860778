import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { resolve as absolute } from 'node:path'
import { resolveSuspense } from '../../../src/fiat/suspense/suspense.js'
import type { OperatorAction } from '../../../src/withdrawals/review/operator-actions.js'
import { refuseIdentity, verifyIdentity } from '../../../src/withdrawals/review/verify-identity.js'
import { reconcileNow } from '../../../src/withdrawals/work-queue.js'
import { runAction } from '../../ops/support/payout-actions.js'
import { outcomes } from '../../sandbox/fiatpay/records.js'
import type { Draw } from './draw.js'
import type { Stage } from './stage.js'

/** What happened, for the story of a withdrawal. `about`: its reference, when the act is about one. */
export interface ActResult {
  readonly text: string
  readonly about?: string
}

/** What the run has made so far. */
export interface Made {
  readonly references: string[]
  readonly intents: string[]
}

interface ActContext {
  readonly stage: Stage
  readonly draw: Draw
  readonly made: Made
}

type Act = (context: ActContext) => Promise<ActResult>

const nothing: ActResult = { text: 'nothing was done' }
const actor = 'acts'
const note = 'a random act'

/** Withdraws in dollars or naira. Some amounts are too small or too large, some wait for an identity. */
async function withdraw({ stage, draw, made }: ActContext): Promise<ActResult> {
  const creator = draw.one(stage.creators)
  if (creator === undefined) return nothing
  const usdc = draw.happens(0.05) ? 2_000_000 : draw.whole(1, draw.happens(0.2) ? 60 : 20)
  const amount = draw.happens(0.5) ? { amountUSDC: usdc } : { amountNGN: usdc * 1600, currency: 'NGN' }
  const accountNumber = draw.happens(0.1) ? '0000000000' : '0123456789'
  const body = { bankCode: '058', accountNumber, accountName: 'Ada Obi', ...amount }
  const answer = await post(stage, '/payouts/withdraw', body, { cookie: creator.cookie })
  const { reference } = answer.body
  if (reference === undefined) return { text: `withdraw ${usdc} USDC: ${answer.status}` }
  made.references.push(reference)
  return { text: `withdraw ${JSON.stringify(amount)}: ${answer.status}`, about: reference }
}

async function tip({ stage, draw, made }: ActContext): Promise<ActResult> {
  const creator = draw.one(stage.creators)
  if (creator === undefined) return nothing
  const amount = draw.whole(1, 20)
  const { status, body } = await post(stage, '/payments/fiat/intent', { creatorId: creator.userId, amount })
  if (body.intentId !== undefined) made.intents.push(body.intentId)
  return { text: `naira tip of ${amount}: ${status}` }
}

/** Pays an intent: in full, twice, short, too much, or after its end. The charge may be paid already. */
async function pay({ stage, draw, made }: ActContext): Promise<ActResult> {
  const intentId = draw.one(made.intents, true)
  const charge = intentId === undefined ? undefined : stage.fiat.fiatpay.charges.find(intentId)
  if (intentId === undefined || charge === undefined) return nothing
  const how = draw.kind({ full: 5, twice: 1, short: 2, barely: 1, more: 1, late: 1, failed: 1 })
  const { fiatpay } = stage.fiat
  const factors = { full: 1, twice: 1, short: 0.5, barely: 0.995, more: 1.5, late: 1, failed: 0 }
  const kobo = Math.round(charge.amountKobo * factors[how])
  if (how === 'late')
    await stage.services.db.raw(
      `update fiat_intents set expires_at = clock_timestamp() - interval '1 second',
         created_at = clock_timestamp() - interval '1801 seconds' where id = ?`,
      [intentId],
    )
  if (how === 'failed') {
    if (charge.payments.length === 0) fiatpay.failCharge(charge)
  } else {
    const paid = fiatpay.pay(charge, kobo)
    if (how === 'twice') fiatpay.pay(paid, kobo)
  }
  await stage.services
    .db('fiat_intents')
    .where({ id: intentId })
    .update({ due_at: new Date(0) })
  await stage.batches.settlement()
  return { text: `pay ${intentId} ${how}` }
}

/** The payout worker takes what is due; the provider may refuse it, be down, or take it and not say so. */
async function send({ stage, draw }: ActContext): Promise<ActResult> {
  const transfers = draw.kind({
    manual: 12,
    reject: 1,
    'no-float': 1,
    '500': 1,
    'accept-then-500': 2,
    'accept-then-reset': 1,
  })
  const lookups = draw.kind({ ok: 6, 'not-found': 1, '500': 1 })
  stage.fiat.fiatpay.faults.setFault({ transfers, lookups })
  await stage.services
    .db('withdrawals')
    .where({ send_state: 'not_sent' })
    .whereNotNull('due_at')
    .update({ due_at: new Date(0) })
  await stage.batches.payouts()
  if (draw.happens(0.5)) await reconcile(stage)
  stage.fiat.fiatpay.faults.setFault({ transfers: 'manual' })
  return { text: `the payout worker runs (sending ${transfers}, lookups ${lookups})` }
}

/** The provider gives a transfer an outcome, also another one than before. */
async function event({ stage, draw, made }: ActContext): Promise<ActResult> {
  const reference = draw.one(made.references, true)
  const transfer = reference === undefined ? undefined : stage.fiat.fiatpay.transfers.find(reference)
  if (reference === undefined || transfer === undefined) return nothing
  const outcome = draw.one(outcomes) ?? 'success'
  // From now on it shows another amount, which is a mismatch.
  const shows = draw.happens(0.06) ? { shows: { amount: transfer.amountKobo - 50_000 } } : undefined
  if (shows !== undefined) stage.fiat.fiatpay.faults.setFault({ id: reference, ...shows })
  stage.fiat.fiatpay.setOutcome(transfer, outcome)
  if (draw.happens(0.5)) await followed(stage, reference)
  return { text: `the provider says ${outcome}${shows ? ', with another amount' : ''}`, about: reference }
}

/** An operator's action on any withdrawal, with a share of those that its state does not allow. */
async function operate({ stage, draw, made }: ActContext): Promise<ActResult> {
  const reference = draw.one(made.references, true)
  if (reference === undefined) return nothing
  const action = draw.kind<OperatorAction | 'ask'>({
    ask: 4,
    replay: 3,
    release: 2,
    void: 3,
    recredit: 5,
    resolve: 2,
    close: 1,
    reopen: 1,
  })
  if (action === 'ask') {
    await followed(stage, reference)
    return { text: 'payouts ask', about: reference }
  }
  const now = action === 'recredit' && draw.happens(0.7)
  const paidKobo = action === 'resolve' ? BigInt(draw.whole(0, 3) * 500_000) : undefined
  if (draw.happens(0.01)) {
    const paid = paidKobo === undefined ? [] : ['--paid', String(paidKobo / 100n)]
    const more = [...(now ? ['--now'] : []), ...paid]
    const code = await spawnOps(stage, 'payouts', action, reference, ...confirmed(reference), ...more)
    return { text: `payouts ${[action, ...more].join(' ')} (the built script): ${code}`, about: reference }
  }
  const options = { now, ...(paidKobo === undefined ? {} : { paidKobo }) }
  const request = { action, actor, reason: note, apply: draw.happens(0.95), ...options }
  const { message } = await runAction(stage.services, reference, request)
  return { text: `payouts ${action}${now ? ' --now' : ''}: ${message}`, about: reference }
}

/** Money in suspense is assigned, recorded as returned, or refunded. The payment may be resolved already. */
async function suspense({ stage, draw }: ActContext): Promise<ActResult> {
  const rows = await stage.services.db('suspense_items').orderBy('created_at').select('provider_transaction')
  const transaction: string | undefined = draw.one(rows, true)?.provider_transaction
  if (transaction === undefined) return nothing
  const as = draw.kind({ assigned: 4, returned: 4, refund: 1 })
  if (as === 'refund') {
    const code = await spawnOps(stage, 'suspense', '--refund', transaction, ...confirmed(transaction))
    return { text: `suspense --refund ${transaction}: ${code}` }
  }
  const resolved = await stage.services.transact(({ trx }) =>
    resolveSuspense(trx, transaction, { as, by: actor, note }),
  )
  return { text: `suspense ${as} ${transaction}: ${resolved === undefined ? 'refused' : 'done'}` }
}

async function identity({ stage, draw }: ActContext): Promise<ActResult> {
  const creator = draw.one(stage.creators)
  if (creator === undefined) return nothing
  const { transact, config } = stage.services
  const verifies = draw.happens(0.1)
  await transact(async (uow) => {
    if (verifies) await verifyIdentity(uow, config.withdrawals, creator.userId)
    else await refuseIdentity(uow, creator.userId, 'Your identity could not be verified')
  })
  return { text: `verify-identity${verifies ? '' : ' --refuse'} ${creator.userId}` }
}

const acts = { withdraw, tip, pay, send, event, operate, suspense, identity } satisfies Record<string, Act>
export type ActName = keyof typeof acts
const weights = { withdraw: 14, tip: 7, pay: 10, send: 14, event: 25, operate: 25, suspense: 3, identity: 2 }

/** One act. A refusal and an error of the provider are ordinary ends of an act. */
export async function act(context: ActContext): Promise<ActResult & { readonly name: ActName }> {
  const name = context.draw.kind<ActName>(weights)
  const told = await acts[name](context)
  return { ...told, name }
}

/** What a webhook of the provider causes: the reconciler asks about this withdrawal. */
async function followed(stage: Stage, reference: string): Promise<void> {
  await reconcileNow(stage.services, reference.toLowerCase())
  await reconcile(stage)
}

async function reconcile({ batches }: Stage): Promise<void> {
  await batches.reconciler()
}

function confirmed(what: string): string[] {
  return ['--apply', `--confirm=${what}`, '--reason', note]
}

/** Runs the built script of `npm run ops`, and returns its exit code. */
function spawnOps({ env }: Stage, name: string, ...args: readonly string[]): Promise<number> {
  return new Promise((done) => {
    const options = { cwd: tmpdir(), env: { PATH: process.env['PATH'], ...env } }
    const program = absolute(`dist/scripts/ops/${name}.js`)
    execFile(process.execPath, [program, ...args], options, (error) => {
      done(typeof error?.code === 'number' ? error.code : error === null ? 0 : -1)
    })
  })
}

async function post(stage: Stage, path: string, body: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(`${stage.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
  const read = (await response.json()) as { reference?: string; intentId?: string }
  return { status: response.status, body: read }
}
