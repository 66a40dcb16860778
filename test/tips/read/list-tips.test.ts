import test from 'ava'
import { solMint, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { registerCreator } from '../../helpers/make/creators.js'
import { unusedSignature, unusedWallet } from '../../helpers/make/supporter.js'
import { type ListedTip, listTips, recordTip, someClaim } from '../../helpers/make/tips.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test)

interface Landed {
  readonly recipient: string
  readonly sender?: string
  readonly symbol?: string
  readonly units?: bigint
  readonly received?: bigint
  readonly message?: string | null
  readonly recordedAt?: Date
}

async function partyOf(wallet: string): Promise<bigint> {
  const { db } = world()
  await db('parties').insert({ wallet }).onConflict().ignore()
  return (await db('parties').where({ wallet }).first()).id
}

let stamps = 0

/** Inserts a confirmed tip as the verifier leaves it. */
async function land({
  recipient,
  sender = unusedWallet(),
  symbol = 'USDC',
  ...tip
}: Landed): Promise<string> {
  const token = tokenBySymbol(symbol)
  const units = tip.units ?? 1_000_000n
  const id = unusedSignature()
  await recordTip(world(), someClaim({ txSignature: id, creatorWallet: recipient, senderWallet: sender }))
  const facts = {
    status: 'confirmed',
    due_at: null,
    recipient_party: await partyOf(recipient),
    sender_party: await partyOf(sender),
    received_raw: tip.received ?? units,
    display_raw: units,
    decimals: token?.decimals,
    mint: token?.mint,
    message: tip.message ?? null,
    recorded_at: tip.recordedAt ?? new Date(),
    confirmed_at: new Date(Date.UTC(2026, 0, 1) + stamps++),
  }
  await world().db('tips').where({ id }).update(facts)
  return id
}

const ids = (tips: readonly ListedTip[]): string[] => tips.map(({ signature }) => signature)

test('the newest fifty tips are listed, received or sent', async (t) => {
  const wallet = unusedWallet()
  const other = unusedWallet()
  const made: string[] = []
  for (let minute = 0; minute < 56; minute++) {
    const recordedAt = new Date(Date.UTC(2026, 0, 1, 0, minute))
    const parties =
      minute % 3 === 0 ? { recipient: other, sender: wallet } : { recipient: wallet, sender: other }
    made.unshift(await land({ ...parties, recordedAt }))
  }
  t.deepEqual(ids(await listTips(world(), wallet)), made.slice(0, 50))
})

let naira = 0
/** Inserts fiat intents that nobody has paid, the newest first, a minute apart. */
async function openFiat(recipient: string, count: number, newest: Date): Promise<string[]> {
  const party = await partyOf(recipient)
  const rows = Array.from({ length: count }, (_, index) => ({
    id: `fiatpay_${String(++naira).padStart(32, '0')}`,
    kind: 'fiat',
    status: (['pending', 'cancelled', 'failed'] as const)[index % 3],
    sender: 'Ada',
    amount: 5,
    token_symbol: 'FIAT',
    message: 'unpaid words',
    recipient_party: party,
    display_raw: 500,
    decimals: 2,
    recorded_at: new Date(newest.getTime() - index * 60_000),
    due_at: null,
  }))
  await world().db('tips').insert(rows)
  return rows.map(({ id }) => id)
}

test('unpaid words: unpaid intents take at most ten places from paid tips, and fill those left', async (t) => {
  const flooded = unusedWallet()
  const paid: string[] = []
  for (let minute = 0; minute < 45; minute++)
    paid.unshift(await land({ recipient: flooded, recordedAt: new Date(Date.UTC(2026, 0, 1, 0, minute)) }))
  const sent = await land({
    recipient: unusedWallet(),
    sender: flooded,
    recordedAt: new Date(Date.UTC(2025, 11, 31)),
  })
  const unpaid = await openFiat(flooded, 120, new Date(Date.UTC(2026, 0, 2)))
  const listed = ids(await listTips(world(), flooded))
  t.deepEqual(listed, [...unpaid.slice(0, 10), ...paid.slice(0, 40)])

  for (let minute = 0; minute < 8; minute++)
    paid.push(await land({ recipient: flooded, recordedAt: new Date(Date.UTC(2025, 0, 1, 0, -minute)) }))
  t.deepEqual(ids(await listTips(world(), flooded)), listed, 'older paid tips change nothing')

  const quiet = unusedWallet()
  const one = await land({ recipient: quiet, recordedAt: new Date(Date.UTC(2025, 0, 1)) })
  const waiting = await openFiat(quiet, 120, new Date(Date.UTC(2026, 0, 2)))
  t.deepEqual(ids(await listTips(world(), quiet)), [...waiting.slice(0, 49), one])

  const old = unusedWallet()
  const older = await openFiat(old, 60, new Date(Date.UTC(2024, 0, 1)))
  t.deepEqual(ids(await listTips(world(), old)), older.slice(0, 50))
  const newer = [await land({ recipient: old }), await land({ recipient: old })].reverse()
  t.deepEqual(ids(await listTips(world(), old)), [...newer, ...older.slice(0, 48)])
  t.is((await listTips(world(), sent)).length, 0)
})

test('unpaid words: a creator may withhold name and message until the tip is paid', async (t) => {
  const { request, db } = world()
  const creator = await registerCreator(world())
  const [id = ''] = await openFiat(creator.wallet, 1, new Date())
  const words = async () => {
    const own = await request<{ tips: ListedTip[] }>('GET', '/creators/tips', { session: creator.session })
    const lists = [await listTips(world(), creator.wallet), own.body.tips]
    return lists.map(([tip]) => `${tip?.sender}: ${tip?.message}`)
  }
  const hide = async (hideUnpaidWords: unknown) => {
    const body = { settings: { hideUnpaidWords } }
    const answer = await request('PATCH', '/creators/me', { session: creator.session, body })
    return answer.status === 200 ? 'ok' : answer.body.error
  }
  t.deepEqual(await words(), ['Ada: unpaid words', 'Ada: unpaid words'], 'the default is the contract')
  t.is(await hide('yes'), 'Invalid settings')
  t.is(await hide(true), 'ok')
  t.deepEqual(await words(), ['Anonymous: null', 'Anonymous: null'])
  await db('tips').where({ id }).update({ status: 'pending' })
  await db('tips')
    .where({ id })
    .update({ status: 'confirmed', received_raw: 4_750_000, confirmed_at: new Date() })
  t.deepEqual(await words(), ['Ada: unpaid words', 'Ada: unpaid words'])
})

test('pending and unlisted tips are not in the list', async (t) => {
  const recipient = unusedWallet()
  const sender = unusedWallet()
  await recordTip(world(), someClaim({ creatorWallet: recipient, senderWallet: sender }))
  const hidden = await land({ recipient, sender })
  await world().db('tips').where({ id: hidden }).update({ listed: false })
  t.deepEqual(await listTips(world(), recipient), [])
  t.deepEqual(await listTips(world(), sender), [])
})

test('stablecoins count at face value, other tokens at the last known price, and a token without a price as zero', async (t) => {
  const { db } = world()
  await db('prices').insert([
    { mint: solMint, usd: '150.123456', source: 'test', as_of: new Date(0) },
    { mint: tokenBySymbol('BONK')?.mint, usd: '0.00002345', source: 'test', as_of: new Date(0) },
    { mint: tokenBySymbol('USDC')?.mint, usd: '0.97', source: 'test', as_of: new Date(0) },
  ])
  const recipient = unusedWallet()
  const cases = [
    ['USDC', 123_456_789n, 123.456789, 123.456789, true],
    ['USDT', 1n, 0.000001, 0.000001, true],
    ['SOL', 2_000_000_000n, 2, 300.25, false],
    ['SOL', 1n, 1e-9, 0, false],
    ['BONK', 100_000_000_000n, 1_000_000, 23.45, false],
    ['JitoSOL', 1_000_000_000n, 1, 0, false],
    ['USDC', 2n ** 64n - 1n, 18_446_744_073_709.55, 18_446_744_073_709.55, true],
  ] as const
  for (const [symbol, units, amount, valueUsd, isStable] of cases) {
    const id = await land({ recipient, symbol, units, recordedAt: new Date() })
    const listed = (await listTips(world(), recipient)).find(({ signature }) => signature === id)
    t.like(listed, { tokenSymbol: symbol, amount, valueUsd, isStable }, `${units} ${symbol}`)
  }
})
