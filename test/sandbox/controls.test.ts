import { Keypair, LAMPORTS_PER_SOL, SystemProgram } from '@solana/web3.js'
import test from 'ava'
import { startSandbox } from '../../scripts/sandbox/server.js'
import {
  callRpc,
  connect,
  fundedKeypair,
  postJson,
  signAndSend,
  unsignedTransaction,
} from './chain-client.js'

// The clock moves only with `dev_advance`, so nothing here waits.
const manual = () => startSandbox({ port: 0, slotMs: 0 })

async function tipOn(sandbox: Awaited<ReturnType<typeof manual>>, lamports: number) {
  const connection = connect(sandbox)
  const tipper = await fundedKeypair(connection, LAMPORTS_PER_SOL)
  const creator = Keypair.generate().publicKey
  const pay = SystemProgram.transfer({ fromPubkey: tipper.publicKey, toPubkey: creator, lamports })
  const transaction = await unsignedTransaction(connection, tipper.publicKey, [pay])
  const send = () => signAndSend(connection, transaction, tipper)
  const statusOf = async (signature: string) =>
    (await connection.getSignatureStatus(signature)).value?.confirmationStatus
  return { connection, creator, transaction, send, statusOf }
}

test('a transaction is processed, then confirmed, then finalized as slots pass', async (t) => {
  const sandbox = await manual()
  t.teardown(() => sandbox.close())
  const { connection, send, statusOf } = await tipOn(sandbox, 5_000_000)
  const signature = await send()
  t.is(await statusOf(signature), 'processed')
  const query = { commitment: 'confirmed', maxSupportedTransactionVersion: 1 } as const
  t.is(await connection.getTransaction(signature, query), null)
  await callRpc(sandbox, 'dev_advance', 1)
  t.is(await statusOf(signature), 'confirmed')
  t.truthy(await connection.getTransaction(signature, query))
  t.is(await connection.getTransaction(signature, { ...query, commitment: 'finalized' }), null)
  await callRpc(sandbox, 'dev_advance', 31)
  t.is(await statusOf(signature), 'finalized')
  t.truthy(await connection.getTransaction(signature, { ...query, commitment: 'finalized' }))
  await callRpc(sandbox, 'dev_advance', 150)
  t.is(await statusOf(signature), undefined)
  const searched = await connection.getSignatureStatus(signature, { searchTransactionHistory: true })
  t.is(searched.value?.confirmationStatus, 'finalized')
})

test('transactions can be kept from landing, dropped and released', async (t) => {
  const sandbox = await manual()
  t.teardown(() => sandbox.close())
  const { connection, creator, send, statusOf } = await tipOn(sandbox, 7_000_000)
  await callRpc(sandbox, 'dev_holdLanding', true)
  const signature = await send()
  t.is(await statusOf(signature), undefined)
  t.is(await callRpc(sandbox, 'dev_dropMempool'), 1)
  await send()
  await callRpc(sandbox, 'dev_holdLanding', false)
  t.is(await statusOf(signature), 'processed')
  t.is(await connection.getBalance(creator), 7_000_000)
})

test('one signature, or all signatures, can be kept from being confirmed', async (t) => {
  const sandbox = await manual()
  t.teardown(() => sandbox.close())
  const { send, statusOf } = await tipOn(sandbox, 7_000_000)
  const signature = await send()
  await callRpc(sandbox, 'dev_holdSignature', signature, 'processed')
  await callRpc(sandbox, 'dev_advance', 40)
  t.is(await statusOf(signature), 'processed')
  await callRpc(sandbox, 'dev_holdSignature', signature, null)
  t.is(await statusOf(signature), 'finalized')

  await callRpc(sandbox, 'dev_freezeConfirmations', true)
  const frozen = await tipOn(sandbox, 7_000_000)
  const late = await frozen.send()
  await callRpc(sandbox, 'dev_advance', 40)
  t.is(await frozen.statusOf(late), 'processed')
  await postJson(`${sandbox.url}/dev/reset`, { what: ['chain-controls'] })
  t.is(await frozen.statusOf(late), 'finalized')
})

test('a blockhash expires after 150 slots', async (t) => {
  const sandbox = await manual()
  t.teardown(() => sandbox.close())
  const { connection, transaction, send } = await tipOn(sandbox, 7_000_000)
  const { recentBlockhash } = transaction.message
  await callRpc(sandbox, 'dev_advance', 150)
  t.true((await connection.isBlockhashValid(recentBlockhash)).value)
  await callRpc(sandbox, 'dev_advance', 1)
  t.false((await connection.isBlockhashValid(recentBlockhash)).value)
  await t.throwsAsync(send(), { message: /Blockhash not found/ })
})
