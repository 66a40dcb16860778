import test, { type ExecutionContext } from 'ava'
import { mintTokens } from '../../scripts/sandbox/chain/faucet.js'
import type { Composed } from '../../src/compose.js'
import { usdc } from '../../src/kernel/tokens.js'
import { readCustody } from '../../src/ledger/custody.js'
import { checkBooks } from '../../src/ledger/invariants.js'
import { createConfiguredVault } from '../../src/providers/vault/configured-vault.js'
import { createCustodianBatch } from '../../src/treasury/custodian-batch.js'
import { viewCreators } from '../../src/treasury/sweeps/custody-overview.js'
import { partsOf, planSweep } from '../../src/treasury/sweeps/plan-sweeps.js'
import type { TestCreator } from '../helpers/make/creators.js'
import {
  creatorInCustody,
  freezeUsdc,
  payCreator,
  payerFile,
  tipIntoCustody,
  usdcOnChain,
} from '../helpers/make/custody.js'
import { readPlatformBalance } from '../helpers/make/fiat/fiat-tips.js'
import { startSandboxProxy } from '../helpers/proxies/sandbox-proxy.js'
import { runOpsScript, type ScriptRun } from '../helpers/run-ops-script.js'
import { as, composeAs } from '../helpers/servers/roles.js'
import { startWorkerLoops } from '../helpers/servers/worker-loops.js'
import { runBatch, useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { chain: true })

/** The same chain twice: two endpoints that agree. */
const twoEndpoints = () => ({
  ...world().env,
  SOLANA_RPC_URLS: `${world().sandbox.url},${world().sandbox.url}`,
})

const sweep = (...args: readonly string[]) => runOpsScript(world(), 'sweep', ...args, '--json')
const answer = (run: ScriptRun) => JSON.parse(run.out)
const treasury = () => world().env['TREASURY_WALLET'] ?? ''

function startCustodian(t: ExecutionContext, services: Composed = world().services): void {
  Object.assign(process.env, world().env)
  const loops = startWorkerLoops(services, ['custodian'])
  t.teardown(() => loops.stop())
}

const custodian = () => {
  const { services, env } = world()
  const vault = createConfiguredVault(Buffer.from(env['WALLET_KEK'] ?? '', 'base64'))
  return createCustodianBatch({ ...as('custodian', services), vault })
}

async function plan(payer: string, creators: readonly TestCreator[]): Promise<string> {
  const services = as('operators', world().services)
  const views = await viewCreators(
    services,
    creators.map(({ user }) => user.id),
  )
  const planned = await services.transact((uow) =>
    planSweep(uow, services, { payer, actor: 'test', parts: partsOf(views) }),
  )
  return planned?.id ?? ''
}

const stateOf = async (id: string) => world().db('sweeps').where({ id }).first()

const book = async ({ user }: TestCreator) => {
  const [{ final, swept, inFlight } = { final: 0n, swept: 0n, inFlight: 0n }] = await readCustody(
    world().db,
    usdc.mint,
    [user.id],
  )
  return { final, swept, inFlight }
}

async function assertBooks(t: ExecutionContext): Promise<void> {
  t.true((await checkBooks(world().db)).holds)
  t.is(await readPlatformBalance(world(), 'in_transit', 'USDC'), 0n)
}

test.serial('a sweep moves what creators were paid for, and nothing that is owed', async (t) => {
  const payer = payerFile(t, world())
  startCustodian(t)
  const before = usdcOnChain(world(), treasury())
  const paid = [4_000_000n, 10_000_000n, 0n, 9_000n, 1_000_000n, 2_000_000n, 3_000_000n, 5_000_000n]
  const creators: TestCreator[] = []
  for (const micro of paid) {
    const creator = await creatorInCustody(world(), 10_000_000n)
    if (micro > 0n) await payCreator(world(), creator.user.id, micro)
    creators.push(creator)
  }
  const [ada] = creators as [TestCreator]
  mintTokens(world().sandbox.chain, ada.wallet, usdc.mint, 7n)
  const planned = answer(await sweep())
  const shown = planned.creators.find(({ userId }: { userId: string }) => userId === ada.user.id)
  t.like(shown, { owed: '6000000', sweepable: '4000000', shortage: '0' })
  const run = await sweep('--apply', '--payer', payer.file)
  t.is(run.code, 0, run.err + run.out)
  const { swept, sweeps } = answer(run)
  t.is(swept, '25000000')
  t.deepEqual(
    sweeps.map(({ creators: count, state }: { creators: number; state: string }) => [count, state]),
    [[6, 'final']],
    'less than a cent is left',
  )
  t.is(usdcOnChain(world(), treasury()) - before, 25_000_000n)
  t.is(usdcOnChain(world(), ada.wallet), 6_000_007n)
  const landed = world().sandbox.chain.ledger.get(sweeps[0].signature)
  const bytes = Buffer.from(landed?.raw ?? '', 'base64').length
  t.true(bytes <= 1232 && bytes + 145 > 1232, `a seventh creator does not fit ${bytes} bytes`)
  t.log(`six payments: ${bytes} bytes, ${landed?.meta.computeUnitsConsumed} units, fee ${landed?.meta.fee}`)
  t.deepEqual(await book(ada), { final: 10_000_000n, swept: 4_000_000n, inFlight: 0n })
  t.is(await readPlatformBalance(world(), 'treasury', 'USDC'), -25_000_000n)
  await assertBooks(t)
  const again = answer(await sweep('--apply', '--payer', payer.file))
  t.deepEqual([again.swept, again.sweeps], ['0', []])
  const unattributed = answer(await sweep()).creators.find(
    ({ userId }: { userId: string }) => userId === ada.user.id,
  )
  t.like(unattributed, { unattributed: '7', sweepable: '0' })
  const audited = await world().db('audit_log').where({ action: 'sweep' })
  t.is(audited.length, 1)
  const [audit] = audited
  t.is(Object.keys(audit.details.parts).length, 6)
})

test.serial('two people at once, with one key and with two, sweep once', async (t) => {
  const [one, other] = [payerFile(t, world()), payerFile(t, world())]
  startCustodian(t)
  const before = usdcOnChain(world(), treasury())
  const creators: TestCreator[] = []
  for (let n = 0; n < 9; n++) {
    const creator = await creatorInCustody(world(), 5_000_000n)
    await payCreator(world(), creator.user.id, 3_000_000n)
    creators.push(creator)
  }
  const runs = await Promise.all([one, one, other].map(({ file }) => sweep('--apply', '--payer', file)))
  for (const { code, err, out } of runs) t.is(code, 0, err + out)
  t.is(usdcOnChain(world(), treasury()) - before, 27_000_000n)
  for (const creator of creators) {
    t.is(usdcOnChain(world(), creator.wallet), 2_000_000n)
    t.deepEqual(await book(creator), { final: 5_000_000n, swept: 3_000_000n, inFlight: 0n })
  }
  await assertBooks(t)
})

test.serial('an account frozen after signing fails the batch, and is left out of the next', async (t) => {
  const { sandbox, db } = world()
  const payer = payerFile(t, world())
  startCustodian(t)
  const creators: TestCreator[] = []
  for (let n = 0; n < 3; n++) {
    const creator = await creatorInCustody(world(), 5_000_000n)
    await payCreator(world(), creator.user.id, 5_000_000n)
    creators.push(creator)
  }
  const [ada, ben, cai] = creators as [TestCreator, TestCreator, TestCreator]
  const submitted = sandbox.calls.of('sendTransaction')
  sandbox.chain.holdLanding(true)
  const running = sweep('--apply', '--payer', payer.file)
  await until('a sweep waits to land', async () => (await db('sweeps').where({ state: 'sent' })).length === 1)
  await until('it is submitted', () => sandbox.calls.of('sendTransaction') > submitted)
  freezeUsdc(world(), ben.wallet, true)
  sandbox.chain.holdLanding(false)
  const run = await running
  t.is(run.code, 4, run.err + run.out)
  const { swept, sweeps, excluded } = answer(run)
  t.is(swept, '10000000')
  // The frozen account is in the larger half or the smaller one.
  const states: string[] = sweeps.map(({ state }: { state: string }) => state)
  t.is(states.filter((state) => state === 'failed').length, 1)
  t.true(states.length > 1 && states.every((state) => state === 'failed' || state === 'final'))
  t.deepEqual(excluded, [{ userId: ben.user.id, reason: 'the account is frozen' }])
  t.deepEqual(
    [await book(ada), await book(ben), await book(cai)].map(({ swept: units }) => units),
    [5_000_000n, 0n, 5_000_000n],
  )
  t.deepEqual(await book(ben), { final: 5_000_000n, swept: 0n, inFlight: 0n })
  await assertBooks(t)
  t.is((await sweep()).code, 4, 'the frozen account is shown')
  freezeUsdc(world(), ben.wallet, false)
  t.is(answer(await sweep('--apply', '--payer', payer.file)).swept, '5000000')
})

test.serial('with one endpoint a person decides about a sweep that can no longer land', async (t) => {
  const { sandbox, db, services } = world()
  const payer = payerFile(t, world())
  startCustodian(t)
  const ada = await creatorInCustody(world(), 5_000_000n)
  await payCreator(world(), ada.user.id, 5_000_000n)
  sandbox.chain.holdLanding(true)
  const running = sweep('--apply', '--payer', payer.file)
  const sent = async () => db('sweeps').where({ state: 'sent' }).first()
  await until('a sweep waits to land', async () => (await sent()) !== undefined)
  const { id } = await sent()
  t.is((await sweep('--declare-dead', id, '--apply', '--confirm', id, '--reason', 'x')).code, 1, 'too early')
  sandbox.chain.advance(300)
  const run = await running
  t.is(run.code, 4, run.err + run.out)
  t.like(answer(run).sweeps[0], { id, state: 'sent', undecided: true })
  t.deepEqual(await book(ada), { final: 5_000_000n, swept: 0n, inFlight: 5_000_000n })
  t.is((await sweep('--declare-dead', id)).code, 0)
  t.is((await sweep('--declare-dead', id, '--apply', '--reason', 'x')).code, 3)
  const declared = await sweep(
    '--declare-dead',
    id,
    '--apply',
    '--confirm',
    id,
    '--reason',
    'the explorer has none',
  )
  t.is(declared.code, 0, declared.err + declared.out)
  t.is((await stateOf(id)).state, 'dead')
  t.deepEqual(await book(ada), { final: 5_000_000n, swept: 0n, inFlight: 0n })
  await assertBooks(t)
  t.is(usdcOnChain(world(), ada.wallet), 5_000_000n)
  sandbox.chain.holdLanding(false)
  t.is(usdcOnChain(world(), ada.wallet), 5_000_000n, 'what is dead does not land')
  t.regex(await services.metrics.registry.metrics(), /kind="sweep_undecided"\} 1/)
})

for (const endpoints of [1, 2])
  test.serial(
    `a sweep whose USDC has left is not declared dead, whatever ${endpoints} endpoints show`,
    async (t) => {
      const { sandbox, db } = world()
      const proxy = await startSandboxProxy(sandbox.url)
      const env = { ...world().env, SOLANA_RPC_URLS: Array(endpoints).fill(proxy.url).join() }
      const services = composeAs('custodian', env)
      t.teardown(async () => {
        await services.close()
        await proxy.close()
      })
      startCustodian(t, services)
      proxy.alterReply = (method, params, reply) => {
        if (method !== 'getSignatureStatuses') return reply
        const value = (params[0] as readonly string[]).map(() => null)
        return { ...reply, result: { ...(reply.result as object), value } }
      }
      const payer = payerFile(t, world())
      const ada = await creatorInCustody(world(), 5_000_000n)
      await payCreator(world(), ada.user.id, 4_000_000n)
      const running = runOpsScript({ env }, 'sweep', '--apply', '--payer', payer.file)
      await until('it has landed', () => usdcOnChain(world(), ada.wallet) === 1_000_000n)
      sandbox.chain.advance(300)
      t.is((await running).code, 4)
      const { id } = await db('sweeps').where({ state: 'sent' }).first()
      const dead = ['--declare-dead', id, '--apply', '--confirm', id, '--reason', 'the explorer has none']
      const declared = await runOpsScript({ env }, 'sweep', ...dead)
      t.is(declared.code, 1)
      t.regex(declared.err, /holds less than the book/)
      t.deepEqual(await book(ada), { final: 5_000_000n, swept: 0n, inFlight: 4_000_000n })
      proxy.alterReply = undefined
      await until('it is final', async () => {
        await db('sweeps')
          .where({ id })
          .whereNotNull('due_at')
          .update({ due_at: new Date(0) })
        return (await stateOf(id)).state === 'final'
      })
      t.deepEqual(await book(ada), { final: 5_000_000n, swept: 4_000_000n, inFlight: 0n })
      await assertBooks(t)
    },
  )

test.serial('with two endpoints an expired sweep is dead, and its money is swept by another', async (t) => {
  const { sandbox, db } = world()
  const env = twoEndpoints()
  const services = composeAs('custodian', env)
  t.teardown(() => services.close())
  startCustodian(t, services)
  const payer = payerFile(t, world())
  const ada = await creatorInCustody(world(), 5_000_000n)
  await payCreator(world(), ada.user.id, 5_000_000n)
  sandbox.chain.holdLanding(true)
  const running = runOpsScript({ env }, 'sweep', '--apply', '--payer', payer.file, '--json')
  const sent = async () => db('sweeps').where({ state: 'sent' })
  await until('a sweep waits to land', async () => (await sent()).length === 1)
  const [first] = await sent()
  sandbox.chain.advance(300)
  await until('it is dead', async () => (await stateOf(first.id)).state === 'dead')
  sandbox.chain.holdLanding(false)
  const run = await running
  t.is(run.code, 0, run.err + run.out)
  t.deepEqual(
    answer(run).sweeps.map(({ state }: { state: string }) => state),
    ['dead', 'final'],
  )
  // If it landed after all, it explains what a wallet lacks.
  t.regex((await runOpsScript({ env }, 'sweep')).out, new RegExp(`sweep ${first.id}  dead `))
  t.deepEqual(await book(ada), { final: 5_000_000n, swept: 5_000_000n, inFlight: 0n })
  t.is(usdcOnChain(world(), ada.wallet), 0n)
  await assertBooks(t)
})

test.serial('the custodian refuses what the book, the rule or the chain does not allow', async (t) => {
  const { db, sandbox } = world()
  const payer = payerFile(t, world())
  const batch = custodian()
  const ada = await creatorInCustody(world(), 5_000_000n)
  await payCreator(world(), ada.user.id, 5_000_000n)
  const refusal = async (change: (id: string) => Promise<unknown>, payerAddress = payer.address) => {
    const id = await plan(payerAddress, [ada])
    await change(id)
    await batch()
    const { state, failure, message } = await stateOf(id)
    t.deepEqual([state, message], ['dead', null], failure)
    t.deepEqual(await book(ada), { final: 5_000_000n, swept: 0n, inFlight: 0n })
    return failure
  }
  const nothing = async () => undefined
  t.regex(await refusal(nothing, ada.wallet), /a custody wallet would pay the fee/)
  t.regex(await refusal(nothing, payerFile(t, world(), 0n).address), /the chain would refuse it/)
  const alter = (id: string, sql: string) =>
    db.transaction(async (trx) => {
      await trx.raw('alter table sweeps disable trigger user')
      await trx.raw('alter table sweep_parts disable trigger user')
      await trx.raw(sql, [id])
      await trx.raw('alter table sweeps enable trigger user')
      await trx.raw('alter table sweep_parts enable trigger user')
    })
  t.regex(
    await refusal((id) => alter(id, 'update sweep_parts set amount = amount + 1 where sweep_id = ?')),
    /book does not allow/,
  )
  t.regex(
    await refusal((id) => alter(id, `update sweeps set treasury = payer where id = ?`)),
    /another treasury/,
  )
  t.regex(
    await refusal((id) =>
      alter(id, `update sweeps set mint = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB' where id = ?`),
    ),
    /book does not allow/,
  )
  await refusal(async () => freezeUsdc(world(), ada.wallet, true))
  freezeUsdc(world(), ada.wallet, false)
  // A withdrawal came back after the plan: it is owed again.
  t.regex(await refusal(async () => payCreator(world(), ada.user.id, -1_000_000n)), /book does not allow/)
  await payCreator(world(), ada.user.id, 1_000_000n)
  const id = await plan(payer.address, [ada])
  await batch()
  t.is((await stateOf(id)).state, 'signed')
  t.is(await plan(payer.address, [ada]), '', 'nothing is left to plan')
  // Two rows at once: the book has it in flight.
  const [{ id: second }] = await db('sweeps')
    .insert({ payer: payer.address, mint: usdc.mint, treasury: treasury(), planned_by: 'test' })
    .returning('id')
  await db('sweep_parts').insert({ sweep_id: second, user_id: ada.user.id, amount: '5000000' })
  await batch()
  t.like(await stateOf(second), {
    state: 'dead',
    failure: `creator ${ada.user.id}: the book does not allow this much`,
  })
  sandbox.chain.advance(300)
  await until('it is dead', async () => {
    await db('sweeps')
      .where({ id })
      .whereNotNull('due_at')
      .update({ due_at: new Date(0) })
    await batch()
    return (await stateOf(id)).state === 'dead'
  })
  t.deepEqual(await book(ada), { final: 5_000_000n, swept: 0n, inFlight: 0n })
  await assertBooks(t)
})

test.serial('a withdrawal that races a sweep leaves in custody what is owed', async (t) => {
  const payer = payerFile(t, world())
  const batch = custodian()
  const ada = await creatorInCustody(world(), 50_000_000n)
  await payCreator(world(), ada.user.id, 10_000_000n)
  await plan(payer.address, [ada])
  await Promise.all([
    ...Array.from({ length: 10 }, () => payCreator(world(), ada.user.id, 1_000_000n)),
    runBatch(async () => ({ taken: (await batch()).taken > 0 ? 0 : 0 })),
    ...Array.from({ length: 5 }, () => tipIntoCustody(world(), ada, 2_000_000n)),
  ])
  const [view] = await viewCreators(as('operators', world().services), [ada.user.id])
  t.is(view?.inFlight, 10_000_000n)
  t.is(view?.owed, 40_000_000n)
  t.is(view?.sweepable, 10_000_000n)
})
