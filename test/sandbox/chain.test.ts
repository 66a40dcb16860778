import {
  createAssociatedTokenAccountIdempotentInstruction,
  createTransferCheckedInstruction,
  getAccount,
  getAssociatedTokenAddressSync,
  getMint,
} from '@solana/spl-token'
import {
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  SendTransactionError,
  SystemProgram,
  type TransactionInstruction,
} from '@solana/web3.js'
import test from 'ava'
import { type Sandbox, startSandbox } from '../../scripts/sandbox/server.js'
import { tokenBySymbol } from '../../src/kernel/tokens.js'
import {
  callRpc,
  connect,
  fundedKeypair,
  postJson,
  signAndSend,
  unsignedTransaction,
} from './chain-client.js'

const usdc = new PublicKey(tokenBySymbol('USDC')?.mint ?? '')
const settled = { commitment: 'confirmed', maxSupportedTransactionVersion: 1 } as const
const treasury = Keypair.generate().publicKey

let sandbox: Sandbox
test.before(async () => {
  sandbox = await startSandbox({ port: 0, slotMs: 50, finalizeLag: 4, treasury: treasury.toBase58() })
})
test.after.always(() => sandbox.close())

const transfer = (from: PublicKey, to: PublicKey, lamports: number) =>
  SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports })

function withReference(instruction: TransactionInstruction): PublicKey {
  const reference = Keypair.generate().publicKey
  instruction.keys.push({ pubkey: reference, isSigner: false, isWritable: false })
  return reference
}

async function confirm(signature: string): Promise<void> {
  const connection = connect(sandbox)
  await connection.confirmTransaction({ signature, ...(await connection.getLatestBlockhash()) }, 'confirmed')
}

test('an airdrop is a real transfer whose confirmation arrives over the WebSocket', async (t) => {
  const connection = connect(sandbox)
  const wallet = Keypair.generate().publicKey
  const signature = await connection.requestAirdrop(wallet, 3 * LAMPORTS_PER_SOL)
  const result = await connection.confirmTransaction(
    { signature, ...(await connection.getLatestBlockhash()) },
    'confirmed',
  )
  t.is(result.value.err, null)
  t.is(await connection.getBalance(wallet), 3 * LAMPORTS_PER_SOL)
  const landed = await connection.getTransaction(signature, settled)
  t.is(landed?.meta?.fee, 5000)
})

test('the known tokens exist at their mainnet addresses, and the sandbox airdrops them', async (t) => {
  const connection = connect(sandbox)
  const wallet = Keypair.generate().publicKey
  t.is((await getMint(connection, usdc)).decimals, 6)
  const { status, body } = await postJson(`${sandbox.url}/dev/airdrop`, {
    wallet: wallet.toBase58(),
    token: 'USDC',
    amount: '12.5',
  })
  t.is(status, 200)
  t.true((body as { success: boolean }).success)
  const balance = await connection.getTokenAccountBalance(getAssociatedTokenAddressSync(usdc, wallet))
  t.deepEqual(balance.value, { amount: '12500000', decimals: 6, uiAmount: 12.5, uiAmountString: '12.5' })
  const owned = await connection.getParsedTokenAccountsByOwner(wallet, { mint: usdc })
  t.is(owned.value[0]?.account.data.parsed.info.tokenAmount.uiAmountString, '12.5')
  const held = await connection.getTokenAccountsByOwner(wallet, { mint: usdc })
  t.is(held.value.length, 1)
})

test('an unsigned SOL tip is refused, and the signed one lands with its fee and reference', async (t) => {
  const connection = connect(sandbox)
  const tipper = await fundedKeypair(connection, 5 * LAMPORTS_PER_SOL)
  const [creator, platform] = [Keypair.generate().publicKey, Keypair.generate().publicKey]
  const tip = transfer(tipper.publicKey, creator, 980_000_000)
  const reference = withReference(tip)
  const transaction = await unsignedTransaction(connection, tipper.publicKey, [
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 20_000 }),
    ComputeBudgetProgram.setComputeUnitLimit({ units: 60_000 }),
    tip,
    transfer(tipper.publicKey, platform, 20_000_000),
  ])
  await t.throwsAsync(connection.sendTransaction(transaction), { message: /signature verification failure/ })
  t.is((await connection.getFeeForMessage(transaction.message)).value, 6200)
  t.is((await connection.simulateTransaction(transaction)).value.err, null)

  const signature = await signAndSend(connection, transaction, tipper)
  await confirm(signature)
  const landed = await connection.getTransaction(signature, settled)
  t.is(landed?.meta?.fee, 6200)
  t.is(await connection.getBalance(creator), 980_000_000)
  t.is(await connection.getBalance(platform), 20_000_000)
  const found = await connection.getSignaturesForAddress(reference, {}, 'confirmed')
  t.deepEqual(
    found.map((entry) => [entry.signature, entry.err, entry.memo]),
    [[signature, null, null]],
  )

  const parsed = await connection.getParsedTransaction(signature, settled)
  t.like(parsed?.transaction.message.instructions[2], {
    program: 'system',
    parsed: { type: 'transfer', info: { destination: creator.toBase58(), lamports: 980_000_000 } },
  })
  await t.throwsAsync(connection.getTransaction(signature, { commitment: 'confirmed' }), {
    message: /Transaction version \(0\) is not supported/,
  })
})

test('a token tip opens the missing account, and its metadata has the token balances', async (t) => {
  const connection = connect(sandbox)
  const tipper = await fundedKeypair(connection, LAMPORTS_PER_SOL)
  const wallet = tipper.publicKey
  await postJson(`${sandbox.url}/dev/airdrop`, {
    wallet: wallet.toBase58(),
    token: usdc.toBase58(),
    amount: '500',
  })
  const creator = Keypair.generate().publicKey
  const [source, target] = [wallet, creator].map((owner) => getAssociatedTokenAddressSync(usdc, owner))
  if (!source || !target) return t.fail()
  const tip = createTransferCheckedInstruction(source, usdc, target, wallet, 4_900_000n, 6)
  const reference = withReference(tip)
  const open = createAssociatedTokenAccountIdempotentInstruction(wallet, target, creator, usdc)
  const signature = await signAndSend(
    connection,
    await unsignedTransaction(connection, wallet, [open, tip, open]),
    tipper,
  )
  await confirm(signature)
  t.is((await getAccount(connection, target)).amount, 4_900_000n)
  const meta = (await connection.getTransaction(signature, settled))?.meta
  t.deepEqual(
    meta?.preTokenBalances?.map((balance) => balance.uiTokenAmount.amount),
    ['500000000'],
  )
  t.deepEqual(
    meta?.postTokenBalances?.map((balance) => [balance.owner, balance.uiTokenAmount.amount]).sort(),
    [
      [creator.toBase58(), '4900000'],
      [wallet.toBase58(), '495100000'],
    ].sort(),
  )
  t.true((meta?.innerInstructions?.length ?? 0) > 0)
  t.is((await connection.getSignaturesForAddress(reference, {}, 'confirmed'))[0]?.signature, signature)
  const parsed = await connection.getParsedTransaction(signature, settled)
  t.like(parsed?.transaction.message.instructions[1], {
    program: 'spl-token',
    parsed: { type: 'transferChecked', info: { mint: usdc.toBase58() } },
  })
})

test('preflight refuses a failing transaction; without preflight it is charged and recorded', async (t) => {
  const connection = connect(sandbox)
  const tipper = await fundedKeypair(connection, LAMPORTS_PER_SOL)
  const tooMuch = transfer(tipper.publicKey, Keypair.generate().publicKey, 999 * LAMPORTS_PER_SOL)
  const transaction = await unsignedTransaction(connection, tipper.publicKey, [tooMuch])
  const refusal = await t.throwsAsync(signAndSend(connection, transaction, tipper), {
    instanceOf: SendTransactionError,
    message: /custom program error: 0x1/,
  })
  t.true(refusal.logs?.some((line) => line.includes('insufficient lamports')))

  const signature = await signAndSend(connection, transaction, tipper, true)
  const status = await connection.getSignatureStatus(signature)
  t.deepEqual(status.value?.err, { InstructionError: [0, { Custom: 1 }] })
  t.is(await connection.getBalance(tipper.publicKey), LAMPORTS_PER_SOL - 5000)
})

test('a repeated transaction, one with a forged signature and one without funds never land', async (t) => {
  const connection = connect(sandbox)
  const tipper = await fundedKeypair(connection, LAMPORTS_PER_SOL)
  const to = Keypair.generate().publicKey
  const build = (lamports: number) =>
    unsignedTransaction(connection, tipper.publicKey, [transfer(tipper.publicKey, to, lamports)])
  const once = await build(1_000_000)
  const signature = await signAndSend(connection, once, tipper)
  await t.throwsAsync(connection.sendTransaction(once), { message: /already been processed/ })
  t.is(await connection.sendTransaction(once, { skipPreflight: true }), signature)

  const forged = await build(2_000_000)
  forged.sign([tipper])
  forged.signatures[0]?.fill(7, 0, 8)
  await t.throwsAsync(connection.sendTransaction(forged), { message: /signature verification failure/ })
  const dropped = await connection.sendTransaction(forged, { skipPreflight: true })
  t.is((await connection.getSignatureStatus(dropped)).value, null)

  const poor = Keypair.generate()
  const unpayable = await unsignedTransaction(connection, poor.publicKey, [transfer(poor.publicKey, to, 1)])
  await t.throwsAsync(signAndSend(connection, unpayable, poor), { message: /no record of a prior credit/ })
  t.is(await connection.getBalance(to), 1_000_000)
})

test('the addresses of a lookup table are loaded, listed in the metadata and found by address', async (t) => {
  const connection = connect(sandbox)
  const tipper = await fundedKeypair(connection, LAMPORTS_PER_SOL)
  const payer = tipper.publicKey
  const creator = Keypair.generate().publicKey
  const [create, address] = AddressLookupTableProgram.createLookupTable({
    authority: payer,
    payer,
    recentSlot: await connection.getSlot('confirmed'),
  })
  const extend = AddressLookupTableProgram.extendLookupTable({
    lookupTable: address,
    authority: payer,
    payer,
    addresses: [creator, usdc],
  })
  await confirm(
    await signAndSend(connection, await unsignedTransaction(connection, payer, [create, extend]), tipper),
  )
  const table = (await connection.getAddressLookupTable(address)).value
  if (!table) return t.fail('the lookup table does not exist')
  const tip = await unsignedTransaction(connection, payer, [transfer(payer, creator, 5_000_000)], [table])
  const signature = await signAndSend(connection, tip, tipper)
  await confirm(signature)
  const landed = await connection.getTransaction(signature, settled)
  t.deepEqual(landed?.meta?.loadedAddresses?.writable.map(String), [creator.toBase58()])
  t.is((await connection.getSignaturesForAddress(creator, {}, 'confirmed'))[0]?.signature, signature)
  const parsed = await connection.getParsedTransaction(signature, settled)
  t.like(parsed?.transaction.message.accountKeys.at(-1), { source: 'lookupTable', writable: true })
})

test('invalid requests get the errors of a real node', async (t) => {
  const raw = async (body: unknown) => (await postJson(sandbox.url, body)).body as { error: { code: number } }
  t.is((await raw('{')).error.code, -32700)
  t.is((await raw([])).error.code, -32600)
  t.is((await raw(7)).error.code, -32600)
  t.is((await raw({ id: 1, method: 'getNothing' })).error.code, -32601)
  t.is((await raw({ id: 1, method: 'getBalance', params: [{}] })).error.code, -32602)
  t.is((await raw({ id: 1, method: 'getBalance', params: 'x' })).error.code, -32602)
  const tooMany = new Array(257).fill('1'.repeat(64))
  await t.throwsAsync(callRpc(sandbox, 'getSignatureStatuses', tooMany), { message: /Too many inputs.*256/ })
  await t.throwsAsync(callRpc(sandbox, 'getSignatureStatuses', ['short']), { message: /WrongSize/ })
  await t.throwsAsync(callRpc(sandbox, 'getTransaction', '1'.repeat(64), { commitment: 'processed' }), {
    message: /below `confirmed`/,
  })
  const batch = (await raw([
    { id: 1, method: 'getHealth' },
    { id: 2, method: 'getSlot' },
  ])) as unknown
  t.is((batch as unknown[]).length, 2)
})
