import test, { type ExecutionContext } from 'ava'
import { composeRefundReader } from '../../src/compose.js'
import { usdc } from '../../src/kernel/tokens.js'
import { checkBooks } from '../../src/ledger/invariants.js'
import { markSeen, readEpoch } from '../../src/platform/database/restore-guard.js'
import type { Blockhash } from '../../src/ports/chain.js'
import { createConfiguredVault } from '../../src/providers/vault/configured-vault.js'
import { createMovedCheck } from '../../src/reserves/after-restore.js'
import { compareChain } from '../../src/reserves/compare-chain.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { createCustodianBatch } from '../../src/treasury/custodian-batch.js'
import { viewCreators } from '../../src/treasury/sweeps/custody-overview.js'
import { partsOf, planSweep } from '../../src/treasury/sweeps/plan-sweeps.js'
import { createClient } from '../helpers/http/client.js'
import { registerCreator, type TestCreator } from '../helpers/make/creators.js'
import { payCreator, payerFile } from '../helpers/make/custody.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { paidTip, refundsAtProvider, requestRefund, workOnRefunds } from '../helpers/make/fiat/refunds.js'
import { createPaidIntents, makeTipsDue } from '../helpers/make/intents.js'
import { createSupporter } from '../helpers/make/supporter.js'
import {
  createTaker,
  handIn,
  prepared,
  signed,
  signedBy,
  submit,
  takeOutBatch,
} from '../helpers/make/take-outs.js'
import { readTipRow, recordTip, runBatchUntil } from '../helpers/make/tips.js'
import { readBalance } from '../helpers/make/withdrawals.js'
import { type SandboxProxy, startSandboxProxy } from '../helpers/proxies/sandbox-proxy.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { copyDatabase } from '../helpers/servers/database.js'
import { as, composeAs, openOwnersPool } from '../helpers/servers/roles.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { startWorkerLoops } from '../helpers/servers/worker-loops.js'
import { runBatch, useWorld, type World } from '../helpers/servers/world.js'
import { advanceWhile, until } from '../helpers/until.js'

/** A blockhash lives a minute. */
const world = useWorld(test, { chain: true, fiat: true, slotMs: 400, env: { WITHDRAW_WAIT_MS: '10000' } })

const why = ['--reason', 'drill', '--as', 'ngozi']
const sealed = (subject: string) => ['--apply', `--confirm=${subject}`, ...why]
const finalSlots = 40
/** After these no blockhash from before counts any more, in finalized blocks too. */
const lifetimeSlots = 200

/** Pays each creator about two dollars on the chain. Returns the claims. */
async function pay(one: World, creators: readonly TestCreator[], symbol = 'USDC') {
  const supporter = createSupporter(one.sandbox, symbol === 'SOL' ? [] : [symbol])
  const wallets = creators.map(({ wallet }) => wallet)
  return createPaidIntents(one, supporter, wallets, { symbol })
}

/** Pays, reports, and waits until it is credited for good. */
async function tip(one: World, creators: readonly TestCreator[], symbol?: string): Promise<string[]> {
  const paid = await pay(one, creators, symbol)
  for (const { claim, intent } of paid) await recordTip(one, { ...claim, intentId: intent.intentId })
  const signatures = paid.map(({ signature }) => signature)
  await untilFinal(one, signatures)
  return signatures
}

async function untilFinal(one: World, signatures: readonly string[]): Promise<void> {
  one.sandbox.chain.advance(finalSlots)
  await runBatchUntil(createVerifierBatch(as('verifier', one.services)), 'the tips are final', async () => {
    await makeTipsDue(one)
    const rows = await one.db('tips').whereIn('id', signatures).whereNotNull('finalized_at')
    return rows.length === signatures.length
  })
}

function custodian({ services, env }: World) {
  const vault = createConfiguredVault(Buffer.from(env['WALLET_KEK'] ?? '', 'base64'))
  return createCustodianBatch({ ...as('custodian', services), vault })
}

async function planFor(one: World, payer: string, { user }: TestCreator): Promise<string> {
  const services = as('operators', one.services)
  const parts = partsOf(await viewCreators(services, [user.id]))
  const planned = await services.transact((uow) => planSweep(uow, services, { payer, actor: 'test', parts }))
  return planned?.id ?? ''
}

/** With an endpoint before the sandbox that can be behind it. */
async function withSecondEndpoint(t: ExecutionContext, { env, sandbox }: World) {
  const proxy = await startSandboxProxy(sandbox.url)
  const services = composeAs('clock', { ...env, SOLANA_RPC_URLS: `${proxy.url},${sandbox.url}` })
  t.teardown(async () => {
    await services.close()
    await proxy.close()
  })
  return { proxy, services }
}

/** What sets how many blocks the endpoint is behind. */
function behind(proxy: SandboxProxy): (blocks: number) => void {
  let lag = 0
  proxy.alterReply = (method, _, reply) => {
    if (method === 'getBlockHeight') return { ...reply, result: Number(reply.result) - lag }
    if (method !== 'getLatestBlockhash') return reply
    const { value } = reply.result as { readonly value: Blockhash }
    const lastValidBlockHeight = value.lastValidBlockHeight - lag
    return { ...reply, result: { ...(reply.result as object), value: { ...value, lastValidBlockHeight } } }
  }
  return (blocks) => {
    lag = blocks
  }
}

/** From now on the database shows another timeline. */
async function takeOver({ db }: World, timeline: number): Promise<void> {
  await db.raw(/* sql */ `
    create or replace function database_identity(out system_identifier bigint, out database_oid oid, out table_oid oid, out timeline bigint)
      language sql stable as $$
      select c.system_identifier, (select oid from pg_database where datname = current_database()),
        'database_epoch'::regclass::oid, ${timeline}::bigint
      from pg_control_system() c $$`)
}

const dueNow = { due_at: new Date(0) }

test.serial('a copied database signs nothing, and what the chain has is booked once', async (t) => {
  const { db, env, sandbox, fiat, services } = world()
  Object.assign(process.env, env)
  const ada = await createTaker(world())
  const ben = await registerCreator(world())
  const cyn = await registerCreator(world())
  const dan = await registerCreator(world())
  await tip(world(), [ada, ben, cyn])
  for (const { user } of [ben, cyn]) await payCreator(world(), user.id, 1_500_000n)
  const waiting = await prepared(world(), ada, usdc.mint, '0.7')
  const planned = await planFor(world(), payerFile(t, world()).address, cyn)
  const short = await createFiatIntent(world(), { creatorId: dan.user.id, amount: 10 })
  payFiatIntent(world(), short.intentId, 123_456)
  await settleIntentNow(world(), short.intentId)
  const { provider_transaction: payment } = await db('fiat_payments')
    .where({ intent_id: short.intentId })
    .first()
  const returned = await paidTip(world(), dan)
  t.is((await requestRefund(world(), dan, returned)).status, 200)
  await markSeen(db)
  const backup = await copyDatabase(env['DATABASE_URL'] ?? '')

  // The lost time: two tips, a sweep, the take-out that was prepared, and another one.
  const loops = startWorkerLoops(services, ['custodian', 'take-outs'])
  const first = await handIn(world(), ada, waiting.id, signedBy(ada.holder, waiting.transaction))
  t.is(first.status, 200, JSON.stringify(first.body))
  submit(world(), first.body.transfer?.transaction ?? null)
  const ended = async (count: number) => {
    sandbox.chain.advance(1)
    return (await db('wallet_transfers').where({ state: 'final' })).length === count
  }
  await until('the first take-out is final', () => ended(1))
  const second = await signed(world(), ada, usdc.mint, '0.5')
  submit(world(), second.transaction)
  await until('the second take-out is final', () => ended(2))
  const payer = payerFile(t, world())
  const sweeping = runOpsScript(world(), 'sweep', '--apply', '--payer', payer.file, '--json')
  await until('the sweep lands', async () => {
    const sent = await db('sweeps').where({ state: 'sent' }).first()
    return sandbox.chain.ledger.get(sent?.signature ?? '') !== undefined
  })
  sandbox.chain.advance(finalSlots)
  const swept = await sweeping
  t.is(swept.code, 0, swept.err + swept.out)
  const [{ signature: lostSweep }] = JSON.parse(swept.out).sweeps
  const lostTips = [...(await tip(world(), [ben])), ...(await tip(world(), [ada], 'SOL'))]
  await loops.stop()
  const lostTakeOuts = [first.body.transfer?.signature ?? '', second.signature ?? '']
  const balances = (one: World) => Promise.all([ada, ben, cyn].map((who) => readBalance(one, who)))

  const restoredEnv = { ...env, DATABASE_URL: backup.url, WITHDRAW_WAIT_MS: '300' }
  const { services: own, url } = await startApp(t, restoredEnv)
  const request = await createClient(url)
  const restored: World = Object.assign(Object.create(world()), {
    env: restoredEnv,
    url,
    db: openOwnersPool(t, restoredEnv),
    services: own,
    request,
  })
  t.is((await readEpoch(restored.db)).state, 'copied')

  const refused = await runOpsScript(restored, 'suspense', '--refund', payment, ...sealed(payment))
  t.is(refused.code, 1)
  t.regex(refused.err, /the database was restored/)
  await workOnRefunds(restored)
  t.like(await restored.db('refunds').first(), { send_state: 'not_sent' })
  t.is(refundsAtProvider(restored, returned).length, 0)
  t.is(fiat.fiatpay.log().refunds.length, 0)
  await runBatch(custodian(restored))
  t.like(await restored.db('sweeps').where({ id: planned }).first(), {
    state: 'planned',
    last_error: 'the database was restored: run restore-check',
  })
  const handedIn = await handIn(restored, ada, waiting.id, signedBy(ada.holder, waiting.transaction))
  t.is(handedIn.status, 503)
  await restored.db('wallet_transfers').update(dueNow)
  await takeOutBatch(restored)()
  t.like(await restored.db('wallet_transfers').first(), { state: 'prepared', refusal_code: null })

  // Whoever reports a signature hides nothing, and a payment whose claim was given up is a difference too.
  const moves = [...lostTakeOuts, lostSweep]
  const report = (txSignature: string) =>
    recordTip(restored, {
      creatorWallet: ben.wallet,
      senderWallet: payer.address,
      tipAmount: 1,
      txSignature,
    })
  await Promise.all(moves.map(report))
  await runBatchUntil(createVerifierBatch(own), 'the moves are no tips', async () => {
    await makeTipsDue(restored)
    return (await restored.db('tips').whereIn('id', moves).where({ outcome: 'mismatch' })).length === 3
  })
  const [givenUp = ''] = lostTips
  await report(givenUp)
  await restored.db('tips').where({ id: givenUp }).update({ due_at: null })

  const check = (...args: string[]) => runOpsScript(restored, 'restore-check', ...args)
  const found = await check('--json')
  t.is(found.code, 4, found.err)
  const { chain } = JSON.parse(found.out) as { chain: { subject: string; kind: string }[] }
  const kindsOf = (kind: string) => chain.flatMap((one) => (one.kind === kind ? [one.subject] : [])).sort()
  t.is(chain.length, 5, found.out)
  t.deepEqual(kindsOf('payment'), lostTips.toSorted())
  t.deepEqual(kindsOf('sweep'), [lostSweep])
  t.deepEqual(kindsOf('take_out'), lostTakeOuts.toSorted())
  const shown = await check()
  const since = /find-uncredited --since (\S+) --apply/.exec(shown.out)?.[1] ?? ''
  t.true(shown.out.includes(`sweep --adopt ${lostSweep}`), shown.out)
  const accept = () => advanceWhile(sandbox, check('--apply', '--confirm=0', ...why))
  t.is((await accept()).code, 3, 'not before the chain is booked')

  const plan = JSON.parse((await check('--adopt-all', '--json')).out) as { steps: string[]; hash: string }
  t.is(plan.steps.length, 5, plan.steps.join('\n'))
  const verifying = startWorkerLoops(own, ['verifier'])
  let adopting = true
  const adopted = check('--adopt-all', '--apply', `--confirm=${plan.hash}`, ...why).finally(() => {
    adopting = false
  })
  await until('everything is adopted', async () => {
    sandbox.chain.advance(1)
    await makeTipsDue(restored)
    return !adopting
  })
  await verifying.stop()
  t.regex((await adopted).out, /5 adopted, 0 refused, 0 need a person/, (await adopted).err)
  const recorded = await runOpsScript(restored, 'find-uncredited', '--since', since, '--apply', '--json')
  t.is(recorded.code, 0, recorded.err)
  t.is(JSON.parse(recorded.out).unrecorded.length, 0)
  await untilFinal(restored, lostTips)
  const adopt = async (command: string, signature: string) => {
    const again = await runOpsScript(restored, command, '--adopt', signature, ...sealed(signature))
    t.is(again.code, 1)
    t.regex(again.err, /nothing to adopt/)
  }
  await adopt('sweep', lostSweep)
  for (const signature of lostTakeOuts) await adopt('take-outs', signature)
  t.like(
    await restored.db('wallet_transfers').where({ id: waiting.id }).first(),
    { state: 'final', signature: lostTakeOuts[0] },
    'the row that was prepared is completed',
  )
  const signing = startWorkerLoops(services, ['take-outs'])
  const late = await signed(world(), ada, usdc.mint, '0.1')
  await signing.stop()
  const asked = sandbox.calls.of('getBlockHeight')
  const hasty = check('--apply', '--confirm=0', ...why)
  await until('it asks what can still land', () => sandbox.calls.of('getBlockHeight') > asked)
  const landed = submit(world(), late.transaction)
  t.is((await advanceWhile(sandbox, hasty)).code, 3, 'what was signed in the lost time landed only now')
  const lateOne = await runOpsScript(restored, 'take-outs', '--adopt', landed, ...sealed(landed))
  t.is(lateOne.code, 0, lateOne.err)
  const last = await accept()
  t.is(last.code, 0, last.err + last.out)

  const following = startWorkerLoops(services, ['take-outs'])
  await until('the late take-out is final', () => ended(3))
  await following.stop()
  t.deepEqual(await balances(restored), await balances(world()))
  t.true((await checkBooks(restored.db)).holds)
  const ids = [ada, ben, cyn].map(({ user }) => user.id)
  for (const { shortage, unattributed } of await viewCreators(own, ids))
    t.deepEqual([shortage, unattributed], [0n, 0n])
  await restored.db('sweeps').where({ id: planned }).update(dueNow)
  await custodian(restored)()
  t.like(await restored.db('sweeps').where({ id: planned }).first(), { state: 'signed' })

  // A standby takes over without a tip that was recorded a moment before, and one of two endpoints is behind.
  const { proxy, services: both } = await withSecondEndpoint(t, restored)
  const state = async () => (await readEpoch(restored.db)).state
  const [unknown] = await pay(restored, [ben])
  await restored.db('database_epoch').update({ timeline: 0, seen_at: restored.db.raw('clock_timestamp()') })
  const refunds = composeRefundReader(own.config)
  const acceptMoved = createMovedCheck({ ...as('clock', both), refunds })
  const lag = behind(proxy)
  lag(100)
  await acceptMoved()
  t.is(await state(), 'moved', 'what it lost may still land')
  sandbox.chain.advance(lifetimeSlots)
  await acceptMoved()
  t.is(await state(), 'moved', 'it may have landed where one endpoint does not see it yet')
  lag(300)
  const old = new Date(Date.now() - 60_000)
  await t.throwsAsync(compareChain(both, old), { name: 'ProviderError', message: /different heights/ })
  lag(0)
  await takeOver(restored, 1001)
  await acceptMoved()
  t.is(await state(), 'moved', 'what a second takeover lost may still land')
  sandbox.chain.advance(lifetimeSlots)
  let taken: Promise<void> | undefined
  proxy.intervene = async (_, body) => {
    if (body.includes('getSignaturesForAddress')) taken ??= takeOver(restored, 1002)
    await taken
    return undefined
  }
  await acceptMoved()
  t.is(await state(), 'moved', 'another server than this one was compared')
  proxy.intervene = undefined
  const afterwards = createMovedCheck({ ...as('clock', both), refunds })
  await afterwards()
  sandbox.chain.advance(lifetimeSlots)
  await afterwards()
  t.is(await state(), 'known')
  t.like(await readTipRow(restored, unknown?.signature ?? ''), { status: 'pending' })
})
