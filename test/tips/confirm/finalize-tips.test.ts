import test from 'ava'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { createVerifierBatch } from '../../../src/tips/verify/verify-tips.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import { unconfirmed } from '../../helpers/make/landed.js'
import { lookAgain, type PaidIntent, payIntents } from '../../helpers/make/paid-intents.js'
import { createSupporter, strangerWallet } from '../../helpers/make/supporter.js'
import { listTips, recordTip, storedTip, verifyUntil } from '../../helpers/make/tips.js'
import { useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { chain: true, slotMs: 400, taps: true })
const batch = () => createVerifierBatch(world().services)()

test.afterEach.always(async () => {
  Object.assign(world().taps.outside, { alter: undefined, intervene: undefined })
  world().sandbox.chain.releaseControls()
  // Beyond the slots some tests invent: a node behind what it said before would not be believed.
  const { sandbox, services } = world()
  sandbox.chain.advance(400)
  await until('blockhashes of now are handed out', async () => {
    const { blockhash } = await services.chain.latestBlockhash()
    return sandbox.chain.clock.slotOfRecentHash(blockhash) !== undefined
  })
  await world().db('tips').update({ due_at: null })
})

/** A confirmed tip of 2 dollars that the cluster could still take back. */
async function confirmedTip(symbol = 'USDC', recipient = strangerWallet()): Promise<PaidIntent> {
  const supporter = createSupporter(world().sandbox, symbol === 'SOL' ? [] : [symbol])
  const [paid] = (await payIntents(world(), supporter, [recipient], { symbol })) as [PaidIntent]
  await recordTip(world(), paid.claim)
  const isConfirmed = async () => (await unconfirmed(world(), [paid.signature])).length === 0
  await verifyUntil(batch, 'it is confirmed', isConfirmed)
  return paid
}

async function balanceOf({ session }: TestCreator): Promise<Record<string, number>> {
  const answer = await world().request<{ balance: Record<string, number> }>('GET', '/creators/balance', {
    session,
  })
  return answer.body.balance
}

async function transfersOf(signature: string): Promise<{ idem: string; kind: string }[]> {
  return world()
    .db('ledger_transfers')
    .where('idem', 'like', `tip:${signature}%`)
    .orderBy('id')
    .select('idem', 'kind')
}

/** The chain's answers about this signature become these. */
function statusBecomes(signature: string, status: unknown, slotsLater = 0): void {
  world().taps.outside.alter = (method, [asked], reply) => {
    if (method !== 'getSignatureStatuses' || !Array.isArray(asked)) return reply
    const { context, value } = reply.result as { context: { slot: number }; value: unknown[] }
    const changed = value.map((one, index) => (asked[index] === signature ? status : one))
    return { id: reply.id, result: { context: { slot: context.slot + slotsLater }, value: changed } }
  }
}

async function look(): Promise<void> {
  await lookAgain(world())
  await batch().catch(() => undefined)
}

test.serial('a tip is pending money when confirmed, and available once finalized', async (t) => {
  const creator = await registerCreator(world())
  const { signature } = await confirmedTip('USDC', creator.wallet)
  t.deepEqual(await balanceOf(creator), { availableUSDC: 0, pendingUSDC: 1.96, heldUSDC: 0 })
  await look()
  t.deepEqual(await balanceOf(creator), { availableUSDC: 0, pendingUSDC: 1.96, heldUSDC: 0 }, 'not final yet')
  world().sandbox.chain.advance(40)
  await look()
  t.deepEqual(await balanceOf(creator), { availableUSDC: 1.96, pendingUSDC: 0, heldUSDC: 0 })
  t.deepEqual(await transfersOf(signature), [
    { idem: `tip:${signature}`, kind: 'reserve' },
    { idem: `tip:${signature}:resolve`, kind: 'post' },
  ])
  const stored = await storedTip(world(), signature)
  t.truthy(stored.finalized_at)
  t.is(stored.due_at, null)
  t.true((await checkBooks(world().db)).holds)
})

test.serial('a tip that is finalized when it is first looked at is available at once', async (t) => {
  const creator = await registerCreator(world())
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const [paid] = (await payIntents(world(), supporter, [creator.wallet])) as [PaidIntent]
  world().sandbox.chain.advance(40)
  await recordTip(world(), paid.claim)
  await batch()
  t.deepEqual(await balanceOf(creator), { availableUSDC: 1.96, pendingUSDC: 0, heldUSDC: 0 })
  t.is((await storedTip(world(), paid.signature)).due_at, null)
  t.is((await transfersOf(paid.signature)).length, 2)
})

test.serial('only USDC that arrived in a wallet whose key we hold is credited', async (t) => {
  const creator = await registerCreator(world())
  for (const symbol of ['SOL', 'USDT']) {
    const { signature } = await confirmedTip(symbol, creator.wallet)
    t.deepEqual(await transfersOf(signature), [], symbol)
  }
  t.deepEqual(await transfersOf((await confirmedTip('USDC')).signature), [], 'a stranger’s wallet')
  world().sandbox.chain.advance(40)
  await look()
  t.deepEqual(await balanceOf(creator), { availableUSDC: 0, pendingUSDC: 0, heldUSDC: 0 })
})

test.serial(
  'a tip that has vanished fails, its credit is taken back, and an operator is called',
  async (t) => {
    const creator = await registerCreator(world())
    const { signature } = await confirmedTip('USDC', creator.wallet)
    const alerts = async () =>
      (await world().services.metrics.alerts.get()).values.find(
        ({ labels }) => labels.kind === 'tip_vanished',
      )?.value ?? 0
    const before = await alerts()

    statusBecomes(signature, null)
    await look()
    t.like(await storedTip(world(), signature), { status: 'confirmed' }, 'a first look is no verdict')
    await world()
      .db('tips')
      .where({ id: signature })
      .update({ missing_since: new Date(Date.now() - 61_000) })
    await look()
    t.like(await storedTip(world(), signature), { status: 'confirmed' }, 'while it could land again, neither')

    statusBecomes(signature, null, 300)
    await look()
    t.like(await storedTip(world(), signature), { status: 'failed', due_at: null })
    t.deepEqual(await balanceOf(creator), { availableUSDC: 0, pendingUSDC: 0, heldUSDC: 0 })
    t.deepEqual(await transfersOf(signature), [
      { idem: `tip:${signature}`, kind: 'reserve' },
      { idem: `tip:${signature}:resolve`, kind: 'void' },
    ])
    t.is(await alerts(), before + 1)
    t.deepEqual(
      (await listTips(world(), creator.wallet)).filter((tip) => tip.signature === signature),
      [],
    )

    statusBecomes(signature, { slot: 1, err: null, confirmationStatus: 'finalized' })
    await world()
      .db('tips')
      .where({ id: signature })
      .update({ due_at: new Date(0) })
    await look()
    t.is((await transfersOf(signature)).length, 2, 'failed is failed')
    t.true((await checkBooks(world().db)).holds)
  },
)

test.serial('a tip that is missing for a while and found again becomes final', async (t) => {
  const creator = await registerCreator(world())
  const { signature } = await confirmedTip('USDC', creator.wallet)
  statusBecomes(signature, null, 300)
  await look()
  t.truthy((await storedTip(world(), signature)).missing_since)
  world().taps.outside.alter = undefined
  world().taps.outside.intervene = () => 'close'
  await look()
  t.truthy((await storedTip(world(), signature)).missing_since, 'no answer changes nothing')
  world().taps.outside.intervene = undefined
  // The node's slot was invented above; one that is behind it is not believed until it has caught up.
  world().sandbox.chain.advance(300)
  await look()
  t.like(await storedTip(world(), signature), { status: 'confirmed', missing_since: null })
  t.is((await balanceOf(creator))['availableUSDC'], 1.96)
})

test.serial(
  'a tip that was finalized elsewhere is final if it brought the same, and fails if not',
  async (t) => {
    const creator = await registerCreator(world())
    for (const same of [true, false]) {
      const { signature } = await confirmedTip('USDC', creator.wallet)
      const slot = world().sandbox.chain.clock.slot + 2
      statusBecomes(signature, {
        slot,
        err: same ? null : { InstructionError: [0, 'Custom'] },
        confirmationStatus: 'finalized',
      })
      await look()
      t.is((await storedTip(world(), signature)).status, same ? 'confirmed' : 'failed')
      if (same) t.is((await storedTip(world(), signature)).slot, BigInt(slot))
      t.is((await transfersOf(signature)).at(-1)?.kind, same ? 'post' : 'void')
    }
    t.deepEqual(await balanceOf(creator), { availableUSDC: 1.96, pendingUSDC: 0, heldUSDC: 0 })
  },
)

test.serial('a claim that comes while a tip becomes final is not lost', async (t) => {
  const creator = await registerCreator(world())
  const { signature, claim } = await confirmedTip('USDC', creator.wallet)
  world().sandbox.chain.advance(40)
  let late: Promise<unknown> | undefined
  world().taps.outside.alter = (_method, _params, reply) => {
    late ??= recordTip(world(), { ...claim, message: 'late' })
    return reply
  }
  await look()
  await late
  await verifyUntil(
    batch,
    'the message is there',
    async () => (await storedTip(world(), signature)).message === 'late',
  )
  await look()
  t.is((await balanceOf(creator))['availableUSDC'], 1.96)
})

test.serial('tips confirmed and finalized by four batches at once are credited once each', async (t) => {
  t.timeout(60_000)
  const creators = [await registerCreator(world()), await registerCreator(world())]
  const supporter = createSupporter(world().sandbox, ['USDC'])
  const recipients = Array.from({ length: 120 }, (_, index) => creators[index % 2]?.wallet ?? '')
  const paid = await payIntents(world(), supporter, recipients)
  await Promise.all(paid.map(({ claim }) => recordTip(world(), claim)))
  const signatures = paid.map(({ signature }) => signature)
  const batches = Array.from({ length: 4 }, () => createVerifierBatch(world().services))
  const all = () => Promise.all(batches.map((one) => one())).then(() => ({ taken: 0 }))
  await verifyUntil(
    all,
    'all are confirmed',
    async () => (await unconfirmed(world(), signatures)).length === 0,
  )
  world().sandbox.chain.advance(40)
  await lookAgain(world())
  const open = () => world().db('tips').whereIn('id', signatures).whereNull('finalized_at')
  await verifyUntil(all, 'all are final', async () => (await open()).length === 0)
  const received = paid.map(({ intent }) => Number(intent.quote.outAmount))
  for (const [index, creator] of creators.entries()) {
    const sum = received.filter((_, place) => place % 2 === index).reduce((a, b) => a + b, 0)
    t.is((await balanceOf(creator))['availableUSDC'], sum / 1e6)
  }
  t.true((await checkBooks(world().db)).holds)
})
