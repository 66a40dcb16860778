import test from 'ava'
import { usdc } from '../../src/kernel/tokens.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { readPage, waitFor, waitForUnread } from '../../src/tips/watch/watch-account.js'
import { createWatchBatch } from '../../src/tips/watch/watch-wallets.js'
import { registerCreator } from '../helpers/make/creators.js'
import { solTransfer, tokenTransfer } from '../helpers/make/instructions.js'
import { untilConfirmedOnChain } from '../helpers/make/intents.js'
import { createSupporter, unusedSignature } from '../helpers/make/supporter.js'
import { listTips, readTipRow, runBatchUntil } from '../helpers/make/tips.js'
import type { RpcReply } from '../helpers/proxies/sandbox-proxy.js'
import { as } from '../helpers/servers/roles.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { chain: true, proxies: true })
const verify = () => createVerifierBatch(as('verifier', world().services))()
/** Each time a finder that has just started. */
const watch = () => createWatchBatch(as('finder', world().services))()

type Alter = (method: string, params: readonly unknown[], reply: RpcReply) => RpcReply
const age: Alter = (method, _, reply) => {
  if (method !== 'getSignaturesForAddress' || !Array.isArray(reply.result)) return reply
  return { ...reply, result: reply.result.map((one) => ({ ...one, blockTime: one.blockTime - 60 })) }
}
/** As if a minute had passed since each transaction. */
const aged = (alter: Alter = (_, __, reply) => reply): void => {
  world().proxies.outside.alterReply = (method, params, reply) =>
    age(method, params, alter(method, params, reply))
}

test.beforeEach(() => aged())
test.afterEach.always(() => {
  Object.assign(world().proxies.outside, { alterReply: undefined, intervene: undefined })
})

async function lookNow(): Promise<void> {
  await world()
    .db('wallet_watches')
    .update({ due_at: new Date(0) })
  await watch()
}

async function untilConfirmed(signatures: readonly string[]): Promise<void> {
  await runBatchUntil(
    async () => {
      await lookNow()
      return verify()
    },
    'the tips are confirmed',
    async () => {
      const rows = await world().db('tips').whereIn('id', signatures).where({ status: 'confirmed' })
      return rows.length === signatures.length
    },
  )
}

const sendUsdc = (supporter: ReturnType<typeof createSupporter>, wallet: string, micro: number): string =>
  supporter.send(tokenTransfer(usdc, supporter.wallet, wallet, micro))

test.serial('money sent plainly to the address on Home is a tip without words, once', async (t) => {
  const { request, sandbox, db } = world()
  const creator = await registerCreator(world())
  const supporter = createSupporter(sandbox, ['USDC'])
  await lookNow()
  const signature = sendUsdc(supporter, creator.wallet, 7_000_000)
  await untilConfirmedOnChain(world(), [signature])
  Object.assign(world().proxies.outside, { alterReply: undefined })
  await lookNow()
  t.is(await readTipRow(world(), signature), undefined, 'its client has half a minute to report it')

  aged()
  await untilConfirmed([signature])
  const [tip] = await listTips(world(), creator.wallet)
  t.like(tip, {
    signature,
    amount: 7,
    receivedAmount: 7,
    tokenSymbol: 'USDC',
    sender: supporter.wallet,
    message: null,
  })
  const { body } = await request<{ balance: { pendingUSDC: number; availableUSDC: number } }>(
    'GET',
    '/creators/balance',
    { session: creator.session },
  )
  t.is(body.balance.pendingUSDC + body.balance.availableUSDC, 7)

  const inSol = supporter.send([solTransfer(supporter.wallet, creator.wallet, 500_000_000)])
  await untilConfirmedOnChain(world(), [inSol])
  await untilConfirmed([inSol])
  await runBatchUntil(
    verify,
    'it is final',
    async () => (await readTipRow(world(), inSol)).finalized_at !== null,
  )
  const takeable = await request<{ tokens: object[] }>('GET', '/creators/wallet/tokens', {
    session: creator.session,
  })
  t.true(JSON.stringify(takeable.body).includes('"SOL"'), JSON.stringify(takeable.body))

  // Two finders at once, and again after a restart from a copy of an hour ago.
  await db('wallet_watches').update({ due_at: new Date(0), accounts: '{}' })
  await Promise.all([watch(), watch(), watch()])
  await lookNow()
  await lookNow()
  t.is((await listTips(world(), creator.wallet)).length, 2)
  const [{ credits }] = (
    await db.raw(`select count(*)::int as credits from ledger_transfers where ref = ? and kind = 'post'`, [
      signature,
    ])
  ).rows
  t.true(credits <= 1)
  t.is((await db('tips').whereNull('finalized_at').where({ status: 'pending' })).length, 0)
})

test.serial('a look costs one call for sixteen wallets, and a finder rests after its calls', async (t) => {
  for (let count = 0; count < 20; count++) await registerCreator(world())
  const { calls } = world().sandbox
  await lookNow()
  await lookNow()
  await lookNow()
  await world()
    .db('wallet_watches')
    .update({ due_at: new Date(0), accounts: '{}', active_at: new Date(Date.now() - 86_400_000) })
  const wallets = (await world().db('wallet_watches')).length
  calls.reset()
  const batch = createWatchBatch(as('finder', world().services))
  t.is((await batch()).taken, 16)
  const rest = await batch()
  t.is(rest.taken, 0)
  t.true((rest.nextDueMs ?? 0) > 0 && (rest.nextDueMs ?? 0) <= 500 * 200)
  t.is(calls.of('getMultipleAccounts'), 1)
  t.true(wallets > 16)
  const [row] = (
    await world().db.raw(
      'select extract(epoch from due_at - clock_timestamp())::float8 as wait from wallet_watches order by due_at desc limit 1',
    )
  ).rows
  t.true(row.wait > 60, 'a wallet that nothing happens to is looked at ever more seldom')
  t.deepEqual(
    [0, 900, 86_400, 86_400 * 30].map((seconds) => waitFor(seconds * 1000) / 1000),
    [15, 15, 1440, 3600],
  )
})

test.serial('a creator who comes back is looked at now', async (t) => {
  const { db, request } = world()
  const creator = await registerCreator(world())
  const { id } = await db('wallets').where({ user_id: creator.user.id }).first()
  const long = new Date(Date.now() - 30 * 86_400_000)
  await db('wallet_watches')
    .where({ id })
    .update({ active_at: long, due_at: new Date(Date.now() + 3_600_000) })
  await db('sessions')
    .where({ user_id: creator.user.id })
    .update({ idle_until: new Date(Date.now() + 3_600_000) })
  await request('GET', '/creators/me', { session: creator.session })
  const row = await db('wallet_watches').where({ id }).first()
  t.true(row.due_at <= new Date(Date.now() + 1000) && row.active_at > long)
})

test.serial('dust is no tip, however much of it hides a payment', async (t) => {
  const { db, sandbox } = world()
  const creator = await registerCreator(world())
  const supporter = createSupporter(sandbox, ['USDC'])
  const paid = sendUsdc(supporter, creator.wallet, 3_000_000)
  const dust: string[] = []
  for (let count = 0; count < 230; count++) dust.push(sendUsdc(supporter, creator.wallet, 100 + count))
  await untilConfirmedOnChain(world(), [paid, ...dust])
  const { calls } = sandbox
  calls.reset()
  let looks = 0
  await runBatchUntil(
    async () => {
      await lookNow()
      looks += 1
      return { taken: 0 }
    },
    'the payment is found behind three pages',
    async () => (await readTipRow(world(), paid)) !== undefined,
  )
  t.true(looks <= 6, `${looks} looks`)
  // The payment may be on the last page but one.
  for (let more = 0; more < 3; more++) await lookNow()
  t.deepEqual(await db('tips').whereIn('id', dust), [])
  t.true(calls.of('getTransaction') <= 300, `${calls.of('getTransaction')} transactions were read`)
  const { id } = await db('wallets').where({ public_key: creator.wallet }).first()
  const { accounts } = await db('wallet_watches').where({ id }).first()
  const [account] = Object.values(accounts) as { before?: string; until?: string }[]
  t.is(account?.before, undefined)
  t.is(account?.until, dust.at(-1))
})

test('what was too young when a walk began is read, however long the walk took', (t) => {
  const at = (ageMs: number) => ({
    signature: `of ${ageMs}`,
    failed: false,
    blockTime: new Date(1e12 - ageMs),
  })
  const [young, ripe] = [at(10_000), at(60_000)]
  const open = { held: '1', changedMs: 1e12, isOpen: true }
  const first = readPage(open, [young, ripe], 1e12, 1e9)
  t.deepEqual([first.wanted, first.after.before], [[ripe.signature], ripe.signature])
  const ended = readPage(first.after, [], 1e12 + 300_000, 1e9)
  t.true(ended.after.isOpen, 'the newest are read once more')
  const again = readPage(ended.after, [young], 1e12 + 320_000, 1e9)
  t.deepEqual(again.wanted, [young.signature])
  const last = readPage(again.after, [], 1e12 + 340_000, 1e9)
  t.false(readPage(last.after, [], 1e12 + 360_000, 1e9).after.isOpen, 'then there is nothing new')
})

test.serial('what a node cannot answer at once is asked for in smaller parts', async (t) => {
  const { sandbox, db, proxies } = world()
  const creator = await registerCreator(world())
  const supporter = createSupporter(sandbox, ['USDC'])
  await lookNow()
  const sent = Array.from({ length: 9 }, (_, n) => sendUsdc(supporter, creator.wallet, 1_000_000 + n))
  await untilConfirmedOnChain(world(), sent)
  proxies.outside.intervene = async (_path, body) =>
    body.split('"getTransaction"').length > 3 ? { status: 500, body: 'too much' } : undefined
  let looks = 0
  await runBatchUntil(
    async () => {
      await lookNow().catch(() => undefined)
      looks += 1
      return { taken: 0 }
    },
    'every payment is found',
    async () => (await db('tips').whereIn('id', sent)).length === sent.length,
  )
  t.true(looks > 1, 'the first look had no answer')
})

test.serial('a node that is behind, silent or lying hides a payment only for a while', async (t) => {
  const creator = await registerCreator(world())
  const supporter = createSupporter(world().sandbox, ['USDC'])
  await lookNow()
  const signature = sendUsdc(supporter, creator.wallet, 2_000_000)
  await untilConfirmedOnChain(world(), [signature])
  const now = Math.floor(Date.now() / 1000) - 120
  const faults: Alter[] = [
    (method, _, reply) => (method === 'getSignaturesForAddress' ? { id: reply.id, result: [] } : reply),
    (method, _, reply) =>
      method === 'getSignaturesForAddress'
        ? { id: reply.id, result: [{ signature: unusedSignature(), err: null, blockTime: now }] }
        : reply,
    (method, _, reply) => (method === 'getTransaction' ? { id: reply.id, result: null } : reply),
    (_, __, reply) => ({ id: reply.id, result: 'nonsense' }),
    (_, __, reply) => ({ id: reply.id, error: { code: -32603, message: 'Internal error' } }),
  ]
  for (const fault of faults) {
    aged(fault)
    await lookNow().catch(() => undefined)
    t.is(await readTipRow(world(), signature), undefined)
  }
  aged()
  await untilConfirmed([signature])
  t.is((await listTips(world(), creator.wallet)).length, 1)

  const account = { held: '1', changedMs: 0, isOpen: true }
  t.is(waitForUnread(account, 1000)?.stuckMs, 1000)
  t.is(waitForUnread({ ...account, stuckMs: 1000 }, 700_000), undefined, 'it is passed over')
})
