import {
  createAssociatedTokenAccountIdempotentInstruction,
  createSyncNativeInstruction,
} from '@solana/spl-token'
import {
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import test, { type ExecutionContext } from 'ava'
import { mailText } from '../../scripts/kit/mail-text.js'
import { swapProgram } from '../../scripts/sandbox/aggregator/swap-program.js'
import { associatedAccount } from '../../scripts/sandbox/chain/faucet.js'
import type { Composed } from '../../src/compose.js'
import { solMint, type Token, tokenBySymbol, tokens, usdc } from '../../src/kernel/tokens.js'
import { readBalance } from '../../src/ledger/accounts.js'
import { readCustody } from '../../src/ledger/custody.js'
import { checkBooks } from '../../src/ledger/invariants.js'
import { measureState } from '../../src/operators/measure-state.js'
import { gatherAccountData } from '../../src/privacy/exports/account-data.js'
import { createConfiguredVault } from '../../src/providers/vault/configured-vault.js'
import { createFinderBatch } from '../../src/tips/record/find-unreported.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { createCustodianBatch } from '../../src/treasury/custodian-batch.js'
import { viewCreators } from '../../src/treasury/sweeps/custody-overview.js'
import { partsOf, planSweep } from '../../src/treasury/sweeps/plan-sweeps.js'
import { adoptTakeOut } from '../../src/treasury/take-outs/adopt-take-out.js'
import { countAlerts } from '../helpers/alerts-and-mails.js'
import {
  creatorInCustody,
  freezeUsdc,
  payCreator,
  payerFile,
  tipIntoCustody,
  usdcOnChain,
} from '../helpers/make/custody.js'
import { readPlatformBalance } from '../helpers/make/fiat/fiat-tips.js'
import { solTransfer, tokenTransfer } from '../helpers/make/instructions.js'
import { createIntent, makeTipsDue } from '../helpers/make/intents.js'
import { sendTipsTo } from '../helpers/make/payout-wallets.js'
import { createSupporter } from '../helpers/make/supporter.js'
import {
  addWallet,
  createTaker,
  handIn,
  prepare,
  prepared,
  readTransfer,
  resigned,
  signed,
  signedBy,
  submit,
  type Taker,
  type TransferBody,
  takeOutBatch,
  tipToken,
} from '../helpers/make/take-outs.js'
import { readTipRow, recordTip, runBatchUntil } from '../helpers/make/tips.js'
import { startSandboxProxy } from '../helpers/proxies/sandbox-proxy.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { as, composeAs } from '../helpers/servers/roles.js'
import { startWorkerLoops } from '../helpers/servers/worker-loops.js'
import { runBatch, setRows, useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

/** A blockhash lives a minute, as on the real network. */
const world = useWorld(test, { chain: true, slotMs: 400, env: { WITHDRAW_WAIT_MS: '20000' } })
const lighthouse = 'L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95'
const lamportsOf = (wallet: string): bigint => world().sandbox.chain.svm.account(wallet)?.lamports ?? 0n

function startSigning(t: ExecutionContext, services: Composed = world().services): void {
  Object.assign(process.env, world().env)
  const loops = startWorkerLoops(services, ['take-outs'])
  t.teardown(() => loops.stop())
}

/** Two endpoints that lie as told. The first one is preferred. */
async function withLiars(t: ExecutionContext) {
  const { sandbox } = world()
  const proxy = await startSandboxProxy(sandbox.url)
  const other = await startSandboxProxy(sandbox.url)
  const env = { ...world().env, SOLANA_RPC_URLS: `${proxy.url},${other.url}` }
  const services = composeAs('custodian', env)
  t.teardown(async () => {
    await services.close()
    await proxy.close()
    await other.close()
  })
  /** Pages of `getSignaturesForAddress` have so many transactions. */
  const cutPages = (size: number): void => {
    for (const one of [proxy, other])
      one.alterReply = (method, _, reply) =>
        method === 'getSignaturesForAddress'
          ? { ...reply, result: (reply.result as unknown[]).slice(0, size) }
          : reply
  }
  return { env, proxy, other, services, cutPages }
}

/** Transactions that name the key of a take-out's payment, newer than those that landed before. Returns their signatures. */
async function flood({ holder }: Taker, { id, transaction }: TransferBody, count: number): Promise<string[]> {
  const { reference_key } = await world().db('wallet_transfers').where({ id }).first()
  const payerKey = holder.publicKey
  const { message } = VersionedTransaction.deserialize(Buffer.from(transaction ?? '', 'base64'))
  return Array.from({ length: count }, (_, n) => {
    const named = solTransfer(payerKey.toBase58(), payerKey.toBase58(), n)
    named.keys.push({ pubkey: new PublicKey(reference_key), isSigner: false, isWritable: false })
    const { recentBlockhash } = message
    const flooding = new VersionedTransaction(
      new TransactionMessage({ payerKey, recentBlockhash, instructions: [named] }).compileToV0Message(),
    )
    flooding.sign([holder])
    return world().sandbox.chain.submit(Buffer.from(flooding.serialize()), { skipPreflight: true })
  })
}

function unitsOf(wallet: string, { mint }: Token): bigint {
  if (mint === solMint) return lamportsOf(wallet)
  const account = world().sandbox.chain.svm.account(associatedAccount(wallet, mint).toBase58())
  return account === undefined ? 0n : Buffer.from(account.data).readBigUInt64LE(64)
}

async function book({ user }: Taker, mint: string = usdc.mint) {
  const [found] = await readCustody(world().db, mint, [user.id])
  return [found?.final, found?.swept, found?.takenOut, found?.inFlight]
}

async function takeable({ session }: Taker) {
  return (await world().request<{ tokens: unknown[] }>('GET', '/creators/wallet/tokens', { session })).body
    .tokens
}

const balanceOf = ({ user }: Taker) => readBalance(world().db, user.id, 'USDC')
const statusOf = async (taker: Taker, id: string) => (await readTransfer(world(), taker, id))?.status

async function untilStatus(taker: Taker, id: string, status: string): Promise<void> {
  if (status === 'final' || status === 'failed') world().sandbox.chain.advance(40)
  await until(`it is ${status}`, async () => {
    await world()
      .db('wallet_transfers')
      .where({ id })
      .whereNotNull('due_at')
      .update({ due_at: new Date(0) })
    return (await statusOf(taker, id)) === status
  })
}

test.afterEach.always('the books hold', async (t) => {
  t.true((await checkBooks(world().db)).holds)
  t.is(await readPlatformBalance(world(), 'in_transit', 'USDC'), 0n)
})

for (const { symbol, mint, decimals } of tokens)
  test.serial(`${symbol} is taken out to the payout wallet, and is never a tip`, async (t) => {
    startSigning(t)
    const { db, request, services } = world()
    const token = tokenBySymbol(symbol) as Token
    const one = 10n ** BigInt(decimals)
    const taker = await createTaker(world(), mint === usdc.mint ? 5n * one : 0n)
    if (mint !== usdc.mint) await tipToken(world(), taker, symbol, 5n * one)
    const own = taker.holder.publicKey.toBase58()
    const before = unitsOf(own, token)
    const first = await signed(world(), taker, mint, '2.5')
    t.like(first, { status: 'signed', tokenSymbol: symbol, amount: '2.5', wallet: own })
    t.deepEqual(await book(taker, mint), [5n * one, 0n, 0n, (5n * one) / 2n])
    t.deepEqual(await takeable(taker), [{ mint, tokenSymbol: symbol, amount: '2.5' }])
    if (mint === usdc.mint) t.like(await balanceOf(taker), { available: 2_500_000n, held: 2_500_000n })
    const mail = await db('emails').where({ kind: 'take-out-signed', recipient: taker.email }).first()
    t.regex(mailText(mail), new RegExp(`2.5 ${symbol}[^]*${own}`))

    const signature = submit(world(), first.transaction)
    t.is(signature, first.signature ?? '')
    await untilStatus(taker, first.id, 'final')
    t.deepEqual(await book(taker, mint), [5n * one, 0n, (5n * one) / 2n, 0n])
    const fee = mint === solMint ? 1_000_000n : 0n
    t.true(unitsOf(own, token) - before + fee >= (5n * one) / 2n)
    if (mint === usdc.mint) t.like(await balanceOf(taker), { available: 2_500_000n, held: 0n })

    await sendTipsTo(world(), taker, 'payout_wallet')
    for (const creatorWallet of [own, taker.wallet])
      await recordTip(world(), {
        creatorWallet,
        senderWallet: taker.wallet,
        tipAmount: Number((5n * one) / 2n),
        tokenSymbol: symbol,
        txSignature: signature,
      })
    await makeTipsDue(world())
    await runBatch(async () => {
      await createVerifierBatch(as('verifier', services))()
      return { taken: 0 }
    })
    t.is((await readTipRow(world(), signature)).status, 'pending')
    t.is((await db('ledger_transfers').where({ ref: signature })).length, 0)

    const rest = await signed(world(), taker, mint, '2.5')
    submit(world(), rest.transaction)
    await untilStatus(taker, rest.id, 'final')
    t.is(unitsOf(taker.wallet, token), 0n)
    t.deepEqual(await takeable(taker), [])
    t.is(
      (await prepare(world(), taker, mint, '0.01').catch(String)).toString().includes('Insufficient Balance'),
      true,
    )
    const { session } = taker
    type Page = { transfers: { id: string; transaction: string | null }[]; nextCursor: string | null }
    const path = '/creators/wallet/transfers?limit=1'
    const page = (await request<Page>('GET', path, { session })).body
    const next = (await request<Page>('GET', `${path}&cursor=${page.nextCursor}`, { session })).body
    t.deepEqual(
      [...page.transfers, ...next.transfers].map(({ id, transaction }) => [id, transaction]),
      [
        [rest.id, null],
        [first.id, null],
      ],
    )
    t.is(next.nextCursor, null)
  })

test.serial('wrapped SOL that arrives in custody is a tip in SOL and taken out as SOL', async (t) => {
  startSigning(t)
  const { sandbox, request, services } = world()
  const sol = tokenBySymbol('SOL') as Token
  const taker = await createTaker(world())
  const supporter = createSupporter(sandbox)
  const own = associatedAccount(supporter.wallet, solMint)
  const payer = new PublicKey(supporter.wallet)
  supporter.send([
    createAssociatedTokenAccountIdempotentInstruction(payer, own, payer, new PublicKey(solMint)),
    solTransfer(supporter.wallet, own.toBase58(), 3_000_000_000n),
    createSyncNativeInstruction(own),
  ])
  // The first one also pays for the account. A tip in SOL between them.
  const paid = [
    supporter.send(tokenTransfer(sol, supporter.wallet, taker.wallet, 1_000_000_000n)),
    supporter.send([solTransfer(supporter.wallet, taker.wallet, 500_000_000n)]),
    supporter.send(tokenTransfer(sol, supporter.wallet, taker.wallet, 2_000_000_000n)),
  ]
  const rent = lamportsOf(associatedAccount(taker.wallet, solMint).toBase58()) - 3_000_000_000n
  t.is(rent, 2_039_280n)
  for (const txSignature of paid)
    await recordTip(world(), {
      creatorWallet: taker.wallet,
      senderWallet: supporter.wallet,
      tipAmount: 1_000_000_000,
      tokenSymbol: 'SOL',
      txSignature,
    })
  sandbox.chain.advance(40)
  await runBatchUntil(createVerifierBatch(as('verifier', services)), 'they are final', async () => {
    await makeTipsDue(world())
    return (await world().db('tips').whereIn('id', paid).whereNotNull('finalized_at')).length === 3
  })
  const rows = await Promise.all(paid.map((signature) => readTipRow(world(), signature)))
  t.deepEqual(
    rows.map((row) => [row.mint, BigInt(row.received_raw), row.sender]),
    [1_000_000_000n + rent, 500_000_000n, 2_000_000_000n].map((units) => [solMint, units, supporter.wallet]),
  )
  const { session } = taker
  const held = await request<{ tokens: unknown[] }>('GET', '/creators/balance/tokens', { session })
  t.like(held.body.tokens[0], { symbol: 'SOL', amount: 3.50203928 })
  t.deepEqual(await takeable(taker), [{ mint: solMint, tokenSymbol: 'SOL', amount: '3.50203928' }])

  const before = lamportsOf(taker.holder.publicKey.toBase58())
  const most = await signed(world(), taker, solMint, '3.4')
  submit(world(), most.transaction)
  await untilStatus(taker, most.id, 'final')
  t.true(lamportsOf(taker.holder.publicKey.toBase58()) - before > 3_399_000_000n)
  t.is(lamportsOf(associatedAccount(taker.wallet, solMint).toBase58()), 0n)
  t.deepEqual(await takeable(taker), [{ mint: solMint, tokenSymbol: 'SOL', amount: '0.10203928' }])
  const rest = await signed(world(), taker, solMint, '0.10203928')
  submit(world(), rest.transaction)
  await untilStatus(taker, rest.id, 'final')
  t.is(lamportsOf(taker.wallet), 0n)
  t.deepEqual(await takeable(taker), [])
})

test.serial('what cannot be taken out is refused before a code is mailed', async (t) => {
  const { db, request } = world()
  const taker = await createTaker(world(), 3_000_000n)
  await tipToken(world(), taker, 'SOL', 1_000_000_000n)
  const mails = async () =>
    (await db('emails').where({ kind: 'step-up-code', recipient: taker.email })).length
  const mailed = await mails()
  const refusal = async (mint: unknown, amount: unknown, { session } = taker) => {
    const body = { mint, amount }
    const answer = await request<{ code: string }>('POST', '/creators/wallet/transfers', { session, body })
    return `${answer.status} ${answer.body.code}`
  }
  for (const mint of ['', 'USDC', taker.wallet, undefined, 7])
    t.is(await refusal(mint, '1'), '400 invalid_mint', String(mint))
  for (const amount of ['0', '-1', '1e3', '1.0000001', ' 1', '', undefined, 1, '9'.repeat(30)])
    t.is(await refusal(usdc.mint, amount), '400 invalid_amount', String(amount))
  t.is(await refusal(usdc.mint, '3.000001'), '400 insufficient_balance')
  t.is(await refusal(solMint, '0.9999'), '400 invalid_amount', 'the rest would be too little to exist')
  t.is(await refusal(solMint, '1.1'), '400 insufficient_balance')
  t.is(await refusal(tokenBySymbol('BONK')?.mint, '1'), '400 insufficient_balance')
  const poor = await creatorInCustody(world(), 1_000_000n)
  t.is(await refusal(usdc.mint, '1', poor as Taker), '409 payout_wallet_required')
  // Credits of naira tips are no USDC in custody, and what was swept or withdrawn is not there any more.
  await payCreator(world(), taker.user.id, 2_500_000n)
  t.is(await refusal(usdc.mint, '0.6'), '400 insufficient_balance')
  await payCreator(world(), taker.user.id, -9_000_000n)
  t.is(await refusal(usdc.mint, '3.1'), '400 insufficient_balance')
  world().sandbox.chain.setAccount(taker.holder.publicKey.toBase58(), {
    lamports: 0n,
    data: Buffer.alloc(0),
    owner: SystemProgram.programId.toBase58(),
    executable: false,
  })
  t.is(await refusal(usdc.mint, '1'), '422 transfer_would_fail')
  t.is(await mails(), mailed)
  t.is(await refusal(usdc.mint, '1', { session: 'none' } as Taker), '401 unauthorized')
})

test.serial('prepared ones hold and block nothing; one is signed per creator and token', async (t) => {
  startSigning(t)
  const taker = await createTaker(world(), 4_000_000n)
  await tipToken(world(), taker, 'BONK', 1_000_000n)
  const bonk = tokenBySymbol('BONK') as Token
  const [first, second] = [
    await prepared(world(), taker, usdc.mint, '4'),
    await prepared(world(), taker, usdc.mint, '3'),
  ]
  t.like(await balanceOf(taker), { available: 4_000_000n, held: 0n })
  t.deepEqual((await book(taker)).at(3), 0n)
  const other = await prepared(world(), taker, bonk.mint, '10')
  const sign = async ({ id, transaction }: typeof first) =>
    (await handIn(world(), taker, id, signedBy(taker.holder, transaction))).body
  t.is((await sign(first)).transfer?.status, 'signed')
  t.is((await sign(second)).code, 'transfer_in_progress')
  t.is((await sign(other)).transfer?.status, 'signed', 'another token')
  const again = await sign(first)
  t.is(again.transfer?.status, 'signed', 'a lost answer is asked for again')
  t.is((await prepare(world(), taker, usdc.mint, '1').catch(String)).toString().includes('in progress'), true)
  for (const one of [again.transfer, await readTransfer(world(), taker, other.id)])
    submit(world(), one?.transaction ?? null)
  await untilStatus(taker, first.id, 'final')
  await untilStatus(taker, other.id, 'final')
  t.is(
    (await sign(second)).code === 'insufficient_balance' || (await statusOf(taker, second.id)) === 'expired',
    true,
  )
  world().sandbox.chain.advance(300)
  await untilStatus(taker, second.id, 'expired')
  t.is((await sign(second)).code, 'transfer_expired')
  t.like((await sign(first)).transfer, { status: 'final', transaction: null })
  const { takeOuts } = await gatherAccountData(world().services, taker.user.id)
  t.regex(JSON.stringify(takeOuts), /"status":"final","tokenSymbol":"BONK","amount":"10"/)
  const eve = await createTaker(world())
  t.is((await handIn(world(), eve, first.id, 'AA==')).body.code, 'transfer_not_found')
  t.is(await readTransfer(world(), eve, first.id), undefined)
})

test.serial('the rules hold when it is signed: another wallet, a frozen account, less money', async (t) => {
  startSigning(t)
  const taker = await createTaker(world(), 4_000_000n)
  const one = await prepared(world(), taker)
  const text = signedBy(taker.holder, one.transaction)
  await payCreator(world(), taker.user.id, 3_500_000n)
  t.is((await handIn(world(), taker, one.id, text)).body.code, 'insufficient_balance')
  await payCreator(world(), taker.user.id, -3_500_000n)
  const holder = await addWallet(world(), taker)
  t.is(
    (await handIn(world(), taker, one.id, text)).body.code,
    'invalid_transaction',
    'it pays the old wallet',
  )
  const two = await prepared(world(), taker)
  t.is(two.wallet, holder.publicKey.toBase58())
  await setRows(world(), 'users', { id: taker.user.id }, { frozen_at: new Date(), frozen_reason: 'test' })
  t.is((await handIn(world(), taker, two.id, signedBy(holder, two.transaction))).body.code, 'account_frozen')
  await world()
    .db('wallet_transfers')
    .where({ id: two.id })
    .update({
      handed_in: Buffer.from(signedBy(holder, two.transaction), 'base64'),
      hand_ins: 1,
      due_at: new Date(0),
    })
  await until('it is refused', async () => {
    const row = await world().db('wallet_transfers').where({ id: two.id }).first()
    return row.refusal_code === 'invalid_transaction' && row.refusal === 'it may not go there'
  })
  t.deepEqual(await book(taker), [4_000_000n, 0n, 0n, 0n])
})

test.serial('Lighthouse instructions around it are accepted, every other change is refused', async (t) => {
  startSigning(t)
  const { svm } = world().sandbox.chain
  // A program at that address that accepts two zeros: it has nothing to call.
  svm.addProgram(lighthouse, swapProgram())
  const taker = await createTaker(world(), 4_000_000n)
  const own = taker.holder.publicKey
  const guard = (keys: string[] = [own.toBase58()]) =>
    new TransactionInstruction({
      programId: new PublicKey(lighthouse),
      keys: keys.map((key) => ({
        pubkey: new PublicKey(key),
        isSigner: key === own.toBase58(),
        isWritable: false,
      })),
      data: Buffer.alloc(2),
    })
  const one = await prepared(world(), taker)
  const attempt = async (alter: (given: TransactionInstruction[]) => TransactionInstruction[]) =>
    (await handIn(world(), taker, one.id, signedBy(taker.holder, one.transaction, alter))).body.code
  t.is(await attempt((given) => [...given, guard([taker.wallet])]), 'invalid_transaction')
  t.is(
    await attempt((given) => [...given, solTransfer(own.toBase58(), taker.wallet, 1)]),
    'invalid_transaction',
  )
  t.is(await attempt((given) => given.slice(0, -1)), 'invalid_transaction')
  t.is(await attempt((given) => [...given, ...given.slice(-1)]), 'invalid_transaction')
  const forged = Buffer.from(signedBy(taker.holder, one.transaction), 'base64')
  forged[1] = (forged[1] ?? 0) ^ 1
  for (const text of [forged.toString('base64'), one.transaction ?? ''])
    t.is((await handIn(world(), taker, one.id, text)).body.code, 'invalid_transaction', 'not signed')
  for (const text of ['', '!', 'AA==', Buffer.alloc(1300).toString('base64')])
    t.is((await handIn(world(), taker, one.id, text)).body.code, 'invalid_transaction', text)
  t.deepEqual(await book(taker), [4_000_000n, 0n, 0n, 0n])

  // It names the key of an open tip to the same wallet, of the same amount.
  await sendTipsTo(world(), taker, 'payout_wallet')
  const { intentId } = await createIntent(world().request, {
    creatorId: taker.user.id,
    amount: 1,
    inputTokenMint: usdc.mint,
    sourceWalletAddress: own.toBase58(),
  })
  const intent = () => world().db('payment_intents').where({ id: intentId })
  const { reference_key } = await intent().first()
  const text = signedBy(taker.holder, one.transaction, (given) => [guard(), ...given, guard([reference_key])])
  const done = await handIn(world(), taker, one.id, text)
  t.is(done.body.transfer?.status, 'signed', JSON.stringify(done.body))
  submit(world(), done.body.transfer?.transaction ?? null)
  await untilStatus(taker, one.id, 'final')
  t.is(usdcOnChain(world(), own.toBase58()), 1_000_000n)

  const { signature } = done.body.transfer ?? {}
  await until('the finder has found it', async () => {
    await intent().update({ due_at: new Date(0) })
    await createFinderBatch(as('finder', world().services))()
    return (await world().db('tips').where({ id: signature }).first()) !== undefined
  })
  await makeTipsDue(world())
  await runBatch(async () => {
    await createVerifierBatch(as('verifier', world().services))()
    return { taken: 0 }
  })
  t.is((await readTipRow(world(), signature ?? '')).status, 'pending', 'a take-out is no tip')
  t.is((await world().db('ledger_transfers').where({ ref: signature })).length, 0)
})

test.serial('a take-out and a sweep signed at once do not move what is the other’s', async (t) => {
  startSigning(t)
  const { services, env, db } = world()
  const vault = createConfiguredVault(Buffer.from(env['WALLET_KEK'] ?? '', 'base64'))
  const custodian = createCustodianBatch({ ...as('custodian', services), vault })
  const payer = payerFile(t, world()).address
  const takers: Taker[] = []
  for (let n = 0; n < 3; n++) {
    const taker = await createTaker(world(), 5_000_000n)
    await payCreator(world(), taker.user.id, 2_000_000n)
    takers.push(taker)
  }
  const signing: (() => Promise<unknown>)[] = []
  for (const taker of takers) {
    const { id, transaction } = await prepared(world(), taker, usdc.mint, '3')
    await prepared(world(), taker, usdc.mint, '2')
    const operators = as('operators', services)
    const views = await viewCreators(operators, [taker.user.id])
    t.is(views[0]?.sweepable, 2_000_000n)
    const parts = partsOf(views)
    await operators.transact((uow) => planSweep(uow, operators, { payer, actor: 'test', parts }))
    signing.push(() => handIn(world(), taker, id, signedBy(taker.holder, transaction)))
  }
  await Promise.all([
    ...signing.map((sign) => sign()),
    custodian(),
    ...takers.map((taker) => tipIntoCustody(world(), taker, 1_000n)),
  ])
  const states = () => db('sweeps').where({ payer }).distinct('state').pluck('state')
  for (const taker of takers) {
    // What is signed is held too, so a sweep that comes second is refused, and planned again.
    const [, , , inFlight] = await book(taker)
    t.true(inFlight === 5_000_000n || inFlight === 3_000_000n, String(inFlight))
    const row = await db('wallet_transfers').where({ user_id: taker.user.id, state: 'signed' }).first()
    world().sandbox.chain.submit(row.transaction, { skipPreflight: true })
    await untilStatus(taker, row.id, 'final')
    t.is(usdcOnChain(world(), taker.wallet), 2_001_000n)
  }
  world().sandbox.chain.advance(300)
  await until('the sweeps that nobody completed are over', async () => {
    await db('sweeps')
      .where({ payer })
      .whereNotNull('due_at')
      .update({ due_at: new Date(0) })
    await custodian()
    return (await states()).join() === 'dead'
  })
  for (const taker of takers) t.deepEqual(await book(taker), [5_001_000n, 0n, 3_000_000n, 0n])
})

test.serial('forks: what one endpoint knows is not given back; what neither knows in time is', async (t) => {
  const { proxy, services } = await withLiars(t)
  startSigning(t, services)
  let fork: 'shows' | 'hides' | 'failed' | undefined
  proxy.alterReply = (method, params, reply) => {
    if (method !== 'getSignatureStatuses' || fork === undefined) return reply
    const status = {
      hides: null,
      shows: { slot: 1, err: null, confirmationStatus: 'confirmed' },
      failed: { slot: 1, err: 'AccountNotFound', confirmationStatus: 'finalized' },
    }[fork]
    const value = (params[0] as readonly string[]).map(() => status)
    return { ...reply, result: { ...(reply.result as object), value } }
  }
  const lookTwice = async (id: string) => {
    const row = () => world().db('wallet_transfers').where({ id }).first()
    const { attempts } = await row()
    await until('it was looked at twice', async () => {
      await setRows(world(), 'wallet_transfers', { id }, { due_at: new Date(0) })
      return (await row()).attempts >= attempts + 2
    })
  }
  const taker = await createTaker(world(), 8_000_000n)
  const other = await signed(world(), taker, usdc.mint, '4')
  submit(world(), other.transaction)
  fork = 'hides'
  world().sandbox.chain.advance(300)
  await untilStatus(taker, other.id, 'final')
  fork = undefined

  const one = await signed(world(), taker, usdc.mint, '4')
  t.like(await balanceOf(taker), { available: 0n, held: 4_000_000n })
  fork = 'shows'
  world().sandbox.chain.advance(300)
  await lookTwice(one.id)
  t.is(await statusOf(taker, one.id), 'signed', 'it is confirmed on one fork')
  t.like(await balanceOf(taker), { available: 0n, held: 4_000_000n })
  fork = undefined
  await untilStatus(taker, one.id, 'expired')
  t.like(await balanceOf(taker), { available: 4_000_000n, held: 0n })
  t.deepEqual(await book(taker), [8_000_000n, 0n, 4_000_000n, 0n])
  submit(world(), one.transaction)
  t.is(usdcOnChain(world(), taker.wallet), 4_000_000n, 'it cannot land any more')

  const two = await signed(world(), taker, usdc.mint, '4')
  fork = 'failed'
  await lookTwice(two.id)
  t.is(await statusOf(taker, two.id), 'signed', 'it can still land where it is not known')
  world().sandbox.chain.advance(300)
  await untilStatus(taker, two.id, 'expired')
  t.like(await balanceOf(taker), { available: 4_000_000n, held: 0n })
})

test.serial('a wallet that signs a second time gets nothing back for what landed', async (t) => {
  const liar = await withLiars(t)
  startSigning(t, liar.services)
  // Another transaction under the asked signature.
  liar.proxy.alterReply = (method, _, reply) => {
    const shown = reply.result as { readonly transaction?: readonly [string, string] } | null
    if (method !== 'getTransaction' || shown?.transaction === undefined) return reply
    const bytes = Buffer.from(shown.transaction[0], 'base64')
    bytes[bytes.length - 2] = (bytes.at(-2) ?? 0) ^ 1
    return { ...reply, result: { ...shown, transaction: [bytes.toString('base64'), 'base64'] } }
  }
  const taker = await createTaker(world(), 4_000_000n)
  const one = await signed(world(), taker, usdc.mint, '4')
  const second = submit(world(), resigned(taker.holder, one.transaction))
  t.not(second, one.signature)
  t.is(usdcOnChain(world(), taker.wallet), 0n)
  world().sandbox.chain.advance(300)
  await untilStatus(taker, one.id, 'final')
  t.is((await readTransfer(world(), taker, one.id))?.signature, second)
  t.like(await balanceOf(taker), { available: 0n, held: 0n })
  t.deepEqual(await book(taker), [4_000_000n, 0n, 4_000_000n, 0n])
})

test.serial('one endpoint can name neither too low nor too high a last valid height', async (t) => {
  const { proxy, services } = await withLiars(t)
  const { chain } = world().sandbox
  const lieAbout = (lastValidBlockHeight: number) => {
    proxy.alterReply = (method, _, reply) => {
      if (method !== 'getLatestBlockhash') return reply
      const { value, ...rest } = reply.result as { readonly value: object }
      return { ...reply, result: { ...rest, value: { ...value, lastValidBlockHeight } } }
    }
  }
  const height = chain.clock.slotAt('confirmed')
  lieAbout(height + 20)
  const { lastValidBlockHeight } = await services.custodyChain.freshBlockhash()
  t.true(lastValidBlockHeight >= height + 150, 'it could still land when its money is given back')
  for (const lie of [1, 1_000_000_000]) {
    lieAbout(lie)
    await t.throwsAsync(services.custodyChain.freshBlockhash(), { message: /different heights/ })
  }
})

test.serial('a second signature is found however many transactions name the key', async (t) => {
  const { services, cutPages } = await withLiars(t)
  startSigning(t, services)
  cutPages(50)
  const taker = await createTaker(world(), 4_000_000n)
  const one = await signed(world(), taker)
  const second = submit(world(), resigned(taker.holder, one.transaction))
  await flood(taker, one, 60)
  world().sandbox.chain.advance(300)
  await untilStatus(taker, one.id, 'final')
  t.is((await readTransfer(world(), taker, one.id))?.signature, second)
  t.like(await balanceOf(taker), { available: 3_000_000n, held: 0n })
})

for (const [text, pageSize, flooding] of [
  ['whose key is flooded', 3, 200],
  ['that no endpoint shows', 0, 1],
] as const)
  test.serial(`a payment ${text} is not given back once its tokens have left`, async (t) => {
    const { env, services, cutPages } = await withLiars(t)
    startSigning(t, services)
    cutPages(pageSize)
    const { db, sandbox } = world()
    const ops = (option: string, subject: string) =>
      runOpsScript({ env }, 'take-outs', option, subject, '--apply', '--reason', 'x', '--confirm', subject)
    const taker = await createTaker(world(), 4_000_000n)
    const one = await signed(world(), taker)
    const row = () => db('wallet_transfers').where({ id: one.id }).first()
    const second = submit(world(), resigned(taker.holder, one.transaction))
    const [foreign = ''] = await flood(taker, one, flooding)
    sandbox.chain.advance(300)
    await until('a person must decide', async () => {
      await setRows(world(), 'wallet_transfers', { id: one.id }, { due_at: new Date(0) })
      return (await row()).undecided_at !== null
    })
    const given = await ops('--give-back', one.id)
    t.is(given.code, 1)
    t.regex(given.err, /holds less than the book/)
    t.like(await balanceOf(taker), { available: 3_000_000n, held: 1_000_000n })

    t.regex((await ops('--adopt', foreign)).err, /no move of a custody wallet/)
    const transaction = (await services.chain.transactions([second])).get(second)
    if (transaction === undefined) throw new Error('it did not land')
    const move = {
      kind: 'take_out',
      transaction: { ...transaction, signature: foreign },
      moves: [{ userId: taker.user.id, wallet: taker.wallet, mint: usdc.mint, amount: 1_000_000n }],
      destination: one.wallet,
    } as const
    await t.throwsAsync(
      services.transact((uow) => adoptTakeOut(uow, move)),
      { message: /wallet_transfers_signed/ },
    )
    const adopted = await ops('--adopt', second)
    t.is(adopted.code, 0, adopted.err)
    t.like(await row(), { state: 'final', signature: second })
    t.like(await balanceOf(taker), { available: 3_000_000n, held: 0n })
    t.deepEqual(await book(taker), [4_000_000n, 0n, 1_000_000n, 0n])
    t.is((await db('audit_log').where({ subject: `take-out:${one.id}` })).length, 1)
  })

test.serial('with one endpoint a person decides, by command', async (t) => {
  startSigning(t)
  const { db, sandbox } = world()
  const ops = (...args: string[]) => runOpsScript(world(), 'take-outs', ...args)
  const taker = await createTaker(world(), 4_000_000n)
  const one = await signed(world(), taker)
  const unfinishedSeconds = async () =>
    (await measureState(db)).unfinished.find(({ kind }) => kind === 'take-outs')?.seconds
  t.is(
    (await ops('--give-back', one.id, '--apply', '--reason', 'x', '--confirm', one.id)).code,
    1,
    'too early',
  )
  t.not(await unfinishedSeconds(), 0)
  sandbox.chain.advance(300)
  await until('a person must decide', async () => {
    await db('wallet_transfers')
      .where({ id: one.id })
      .update({ due_at: new Date(0) })
    return (await db('wallet_transfers').where({ id: one.id }).first()).undecided_at !== null
  })
  t.is(await statusOf(taker, one.id), 'signed')
  t.is(await unfinishedSeconds(), 0, 'it waits for no worker')
  await until('it is told', async () => (await countAlerts(world(), 'take_out_undecided')) > 0)
  const listed = await ops()
  t.is(listed.code, 4)
  t.true(listed.out.includes(one.id))
  t.is((await ops('--give-back', one.id)).code, 0)
  t.is((await ops('--give-back', one.id, '--apply', '--reason', 'x')).code, 3)
  const done = await ops(
    '--give-back',
    one.id,
    '--apply',
    '--reason',
    'the explorer has none',
    '--confirm',
    one.id,
  )
  t.is(done.code, 0, done.err + done.out)
  t.is(await statusOf(taker, one.id), 'expired')
  t.like(await balanceOf(taker), { available: 4_000_000n, held: 0n })
  t.is((await db('audit_log').where({ subject: `take-out:${one.id}` })).length, 1)
})

test.serial('what landed and failed is given back, and nothing counts before it is final', async (t) => {
  startSigning(t)
  const { chain } = world().sandbox
  const taker = await createTaker(world(), 4_000_000n)
  const one = await signed(world(), taker)
  freezeUsdc(world(), taker.wallet, true)
  submit(world(), one.transaction)
  await untilStatus(taker, one.id, 'failed')
  freezeUsdc(world(), taker.wallet, false)
  t.like(await balanceOf(taker), { available: 4_000_000n, held: 0n })

  const two = await signed(world(), taker)
  chain.freezeConfirmations(true)
  submit(world(), two.transaction)
  await setRows(world(), 'wallet_transfers', { id: two.id }, { due_at: new Date(0) })
  await runBatch(async () => ({ taken: (await takeOutBatch(world())()).taken * 0 }))
  t.is(await statusOf(taker, two.id), 'signed')
  chain.freezeConfirmations(false)
  await untilStatus(taker, two.id, 'final')
  t.deepEqual(await book(taker), [4_000_000n, 0n, 1_000_000n, 0n])
})

test.serial('a custodian that is killed at any step signs once, and nothing is lost', async (t) => {
  const services = as('take-outs', world().services)
  const taker = await createTaker(world(), 4_000_000n)
  const one = await prepared(world(), taker)
  await world()
    .db('wallet_transfers')
    .where({ id: one.id })
    .update({ handed_in: Buffer.from(signedBy(taker.holder, one.transaction), 'base64'), hand_ins: 1 })
  const due = () => setRows(world(), 'wallet_transfers', { id: one.id }, { due_at: new Date(0) })
  const killed = new Error('killed')
  const dying =
    (afterCommit: boolean): typeof services.transact =>
    async (work) => {
      const result = await services.transact(async (uow) => {
        const done = await work(uow)
        if (!afterCommit) throw killed
        return done
      })
      if (afterCommit) throw killed
      return result
    }
  const run = async (transact = services.transact) => {
    await due()
    await takeOutBatch({ env: world().env, services: { ...services, transact } })()
  }
  await run(dying(false))
  t.is(await statusOf(taker, one.id), 'prepared')
  t.deepEqual((await book(taker)).at(3), 0n)
  await run(dying(true))
  const first = await readTransfer(world(), taker, one.id)
  t.is(first?.status, 'signed')
  await run()
  t.deepEqual(await readTransfer(world(), taker, one.id), first)
  submit(world(), first?.transaction ?? null)
  world().sandbox.chain.advance(40)
  await run(dying(false))
  t.is(await statusOf(taker, one.id), 'signed')
  await run(dying(true))
  await run()
  t.is(await statusOf(taker, one.id), 'final')
  t.deepEqual(await book(taker), [4_000_000n, 0n, 1_000_000n, 0n])
})

test.serial('of a hundred requests to sign one is signed, and no more leaves than is there', async (t) => {
  startSigning(t)
  const { sandbox } = world()
  const taker = await createTaker(world(), 4_000_000n)
  const many: Awaited<ReturnType<typeof prepared>>[] = []
  for (let n = 0; n < 5; n++) many.push(await prepared(world(), taker, usdc.mint, '3'))
  const texts = many.map(({ id, transaction }) => [id, signedBy(taker.holder, transaction)] as const)
  const answers = await Promise.all([
    ...Array.from({ length: 100 }, (_, n) => {
      const [id, text] = texts[n % texts.length] as (typeof texts)[number]
      return handIn(world(), taker, id, text)
    }),
    ...Array.from({ length: 4 }, () => tipIntoCustody(world(), taker, 1_000n).then(() => undefined)),
    ...Array.from({ length: 4 }, () => payCreator(world(), taker.user.id, 500_000n).catch(() => undefined)),
  ])
  const ids = new Set(answers.flatMap((answer) => answer?.body.transfer?.id ?? []))
  t.true(ids.size <= 1, [...ids].join())
  const signedRows = await world().db('wallet_transfers').where({ user_id: taker.user.id, state: 'signed' })
  t.true(signedRows.length <= 1)
  for (const row of signedRows) sandbox.chain.submit(row.transaction, { skipPreflight: true })
  for (const row of signedRows) await untilStatus(taker, row.id, 'final')
  const left = usdcOnChain(world(), taker.wallet)
  t.is(left, 4_004_000n - BigInt(signedRows.length) * 3_000_000n)
})
