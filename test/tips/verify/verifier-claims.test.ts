import test from 'ava'
import { solMint } from '../../../src/kernel/tokens.js'
import { createVerifierBatch } from '../../../src/tips/verify-tips.js'
import { solTransfer } from '../../helpers/make/instructions.js'
import { createIntent } from '../../helpers/make/intents.js'
import {
  createSupporter,
  type Supporter,
  unusedSignature,
  unusedWallet,
} from '../../helpers/make/supporter.js'
import { listTips, readTipRow, recordTip, runBatchUntil } from '../../helpers/make/tips.js'
import { as } from '../../helpers/servers/roles.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { chain: true })
const lamports = 6_000_000

interface Paid {
  readonly supporter: Supporter
  readonly recipient: string
  readonly txSignature: string
  /** The true fields of the transaction. */
  readonly truth: Record<string, unknown>
}

function pay(recipient: string = unusedWallet()): Paid {
  const supporter = createSupporter(world().sandbox)
  const txSignature = supporter.send([solTransfer(supporter.wallet, recipient, lamports)])
  const truth = { creatorWallet: recipient, senderWallet: supporter.wallet, tipAmount: lamports, txSignature }
  return { supporter, recipient, txSignature, truth }
}

async function verify(
  signature: string,
  what: string,
  holds: (tip: {
    status: string
    outcome: string | null
    due_at: Date | null
    message: string | null
  }) => boolean,
) {
  const batch = createVerifierBatch(as('verifier', world().services))
  await runBatchUntil(batch, what, async () => holds(await readTipRow(world(), signature)))
  return readTipRow(world(), signature)
}

const untilConfirmed = (signature: string) =>
  verify(signature, 'confirmed', ({ status }) => status === 'confirmed')
const untilDone = (signature: string) =>
  verify(signature, 'nothing due', ({ due_at: dueAt }) => dueAt === null)

test.serial('a late true claim fills an empty message once, and a false one never does', async (t) => {
  const paid = pay()
  await recordTip(world(), paid.truth)
  t.is((await untilConfirmed(paid.txSignature)).message, null)
  const before = await readTipRow(world(), paid.txSignature)
  await recordTip(world(), { ...paid.truth, senderWallet: unusedWallet(), message: 'lie' })
  t.is((await untilDone(paid.txSignature)).message, null)
  await recordTip(world(), { ...paid.truth, message: 'first' })
  t.is((await verify(paid.txSignature, 'filled', ({ message }) => message !== null)).message, 'first')
  await recordTip(world(), { ...paid.truth, message: 'second' })
  const after = await untilDone(paid.txSignature)
  t.is(after.message, 'first')
  t.deepEqual(
    [after.confirmed_at, after.slot, after.display_raw],
    [before.confirmed_at, before.slot, before.display_raw],
  )
})

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

/** Pays 0.1 SOL with an intent, and waits until its tip is confirmed. `first`: fields of the first claim. */
async function payIntent(fields: Record<string, unknown>, first: Record<string, unknown>) {
  const supporter = createSupporter(world().sandbox)
  const creatorWallet = unusedWallet()
  const intent = await createIntent(world().request, {
    creatorId: creatorWallet,
    amount: 0.1,
    inputTokenMint: solMint,
    sourceWalletAddress: supporter.wallet,
    ...fields,
  })
  const txSignature = supporter.pay(intent.transaction)
  const truth = { creatorWallet, senderWallet: supporter.wallet, tipAmount: 100_000_000, txSignature }
  await recordTip(world(), { ...truth, ...first })
  await untilConfirmed(txSignature)
  return { intentId: intent.intentId, txSignature, truth }
}

test.serial("words in a supporter's mouth: the message of the intent is the tip's", async (t) => {
  const lie = { message: 'lie' }
  const { intentId, txSignature, truth } = await payIntent({ message: ' Grüße \u202e ' }, lie)
  const words = { message: 'Grüße', message_by_intent: true }
  t.like(await readTipRow(world(), txSignature), words)
  await recordTip(world(), { ...truth, intentId, message: 'changed' })
  t.like(await untilDone(txSignature), words)
})

test.serial("words in a supporter's mouth: a claim naming the intent wins within 24 h, once", async (t) => {
  const { intentId, txSignature, truth } = await payIntent({}, { message: 'lie' })
  t.like(await readTipRow(world(), txSignature), { message: 'lie', message_by_intent: false })
  const paidAt = (created_at: Date) =>
    world().db('payment_intents').where({ id: intentId }).update({ created_at })
  await paidAt(minutesAgo(24 * 60 + 1))
  await recordTip(world(), { ...truth, intentId, message: 'named' })
  t.is((await untilDone(txSignature)).message, 'lie', 'too late')
  await paidAt(minutesAgo(24 * 60 - 1))
  await recordTip(world(), { ...truth, message: 'lie again' })
  t.is((await untilDone(txSignature)).message, 'named', 'in time now')
  await recordTip(world(), { ...truth, intentId, message: 'a second time' })
  t.like(await untilDone(txSignature), { message: 'named', message_by_intent: true })
})

test.serial("a stranger's words: the intent's own report without a message removes them", async (t) => {
  const { intentId, txSignature, truth } = await payIntent({}, { message: 'insult' })
  t.is((await readTipRow(world(), txSignature)).message, 'insult')
  await recordTip(world(), { ...truth, intentId })
  t.is((await untilDone(txSignature)).message, null)
  await recordTip(world(), { ...truth, message: 'insult again' })
  t.is((await untilDone(txSignature)).message, null)
  await recordTip(world(), { ...truth, intentId, message: 'thanks' })
  t.like(await untilDone(txSignature), { message: 'thanks', message_by_intent: true })
})

test.serial("a stranger's words: five claims do not keep out the intent's own report", async (t) => {
  const { intentId, txSignature, truth } = await payIntent({}, { message: 'insult' })
  for (let n = 1; n <= 6; n++)
    await recordTip(world(), { ...truth, message: `insult ${n}`, ...(n > 3 && { intentId: `pi_${n}` }) })
  await untilDone(txSignature)
  await recordTip(world(), { ...truth, intentId, message: 'thanks' })
  t.like(await untilDone(txSignature), { message: 'thanks', message_by_intent: true, claim_count: 5 })
})

test.serial("words in a supporter's mouth: without an intent a message counts ten minutes", async (t) => {
  const paid = pay()
  await recordTip(world(), paid.truth)
  await untilConfirmed(paid.txSignature)
  const paidAt = (block_time: Date) =>
    world().db('tips').where({ id: paid.txSignature }).update({ block_time })
  await paidAt(minutesAgo(10.1))
  await recordTip(world(), { ...paid.truth, message: 'a stranger' })
  t.is((await untilDone(paid.txSignature)).message, null)
  await paidAt(minutesAgo(9))
  await recordTip(world(), { ...paid.truth, message: 'the supporter', tokenSymbol: 'sol' })
  t.is((await untilDone(paid.txSignature)).message, 'a stranger', 'the first one in time')
})

test('an intent finds its recipient although every claim is false', async (t) => {
  const supporter = createSupporter(world().sandbox)
  const recipient = unusedWallet()
  const intent = await createIntent(world().request, {
    creatorId: recipient,
    amount: 0.1,
    inputTokenMint: solMint,
    sourceWalletAddress: supporter.wallet,
  })
  const txSignature = supporter.pay(intent.transaction)
  const lie = {
    creatorWallet: unusedWallet(),
    senderWallet: unusedWallet(),
    tipAmount: 1,
    message: 'lie',
  }
  await recordTip(world(), { ...lie, txSignature })
  await untilConfirmed(txSignature)
  t.like((await listTips(world(), recipient))[0], {
    amount: 0.1,
    receivedAmount: 0.098,
    sender: supporter.wallet,
    message: null,
  })
  t.deepEqual(await listTips(world(), lie.creatorWallet), [])
})

test.serial('a signature that never lands is checked until the claim window ends', async (t) => {
  const txSignature = unusedSignature()
  const claim = {
    creatorWallet: unusedWallet(),
    senderWallet: unusedWallet(),
    tipAmount: 1,
    txSignature,
  }
  await recordTip(world(), claim)
  const batch = createVerifierBatch(as('verifier', world().services))
  await batch()
  t.like(await readTipRow(world(), txSignature), { status: 'pending', outcome: null })
  t.truthy((await readTipRow(world(), txSignature)).due_at)
  const ago = (hours: number) => new Date(Date.now() - hours * 3_600_000)
  const again = (hours: number) =>
    setRows(world(), 'tips', { id: txSignature }, { recorded_at: ago(hours), due_at: new Date(0) })
  await again(23.9)
  await batch()
  t.truthy((await readTipRow(world(), txSignature)).due_at)
  await again(24.1)
  await batch()
  t.like(await readTipRow(world(), txSignature), { status: 'pending', outcome: 'not_found', due_at: null })
})
