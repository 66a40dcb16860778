import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { getAssociatedTokenAddressSync } from '@solana/spl-token'
import { Keypair, LAMPORTS_PER_SOL, PublicKey } from '@solana/web3.js'
import test from 'ava'
import { startSandbox } from '../../scripts/sandbox/server.js'
import { testNotice } from '../../src/kernel/brand.js'
import { tokenBySymbol } from '../../src/kernel/tokens.js'
import { temporaryFolder } from '../helpers/temporary-folder.js'
import { callRpc, connect, postJson } from './chain-client.js'
import { exitOf, sandboxMain, startSandboxProcess } from './sandbox-process.js'

const usdc = new PublicKey(tokenBySymbol('USDC')?.mint ?? '')

async function readWallet(url: string, wallet: PublicKey) {
  const connection = connect({ url })
  const signatures = await connection.getSignaturesForAddress(wallet, {}, 'confirmed')
  return {
    genesis: await connection.getGenesisHash(),
    lamports: await connection.getBalance(wallet),
    tokens: (await connection.getTokenAccountBalance(getAssociatedTokenAddressSync(usdc, wallet))).value
      .amount,
    signatures: signatures.map((entry) => [entry.signature, entry.slot, entry.memo]),
    oldest: await connection.getTransaction(signatures.at(-1)?.signature ?? '', {
      commitment: 'confirmed',
      maxSupportedTransactionVersion: 1,
    }),
  }
}

test('a killed sandbox restarts with its ledger, also when the last line of the journal is incomplete', async (t) => {
  const directory = temporaryFolder(t)
  const wallet = Keypair.generate().publicKey
  const env = { DATA_DIR: directory, TREASURY_WALLET: wallet.toBase58() }
  const first = await startSandboxProcess(t, env)
  for (let n = 1; n <= 10; n++) await connect(first).requestAirdrop(wallet, n * LAMPORTS_PER_SOL)
  await postJson(`${first.url}/dev/airdrop`, { wallet: wallet.toBase58(), token: 'USDC', amount: '7' })
  await callRpc(first, 'dev_advance', 1000)
  const before = await readWallet(first.url, wallet)
  const slotBefore = await connect(first).getSlot('processed')
  first.child.kill('SIGKILL')
  await exitOf(first.child)
  await appendFile(join(directory, 'chain.jsonl'), '{"transaction":{"signature":"torn')

  const second = await startSandboxProcess(t, env)
  t.deepEqual(await readWallet(second.url, wallet), before)
  t.is(before.lamports, (1 + 55) * LAMPORTS_PER_SOL, 'the treasury is funded once')
  t.is(before.signatures.length, 1 + 1 + 10 + 1)
  t.true((await connect(second).getSlot('processed')) > (before.signatures[0]?.[1] as number))
  t.true(slotBefore > 1000)

  // The incomplete line was removed, so the next one is complete.
  await connect(second).requestAirdrop(wallet, LAMPORTS_PER_SOL)
  second.child.stdin?.end()
  t.is(await exitOf(second.child), 0, 'it exits when its stdin ends')
  const third = await startSandboxProcess(t, env)
  t.is((await readWallet(third.url, wallet)).lamports, before.lamports + LAMPORTS_PER_SOL)
  third.child.kill('SIGTERM')
  t.is(await exitOf(third.child), 0, 'it exits on SIGTERM')
})

test('in production it starts for a test deployment, without a mail server and with the public address of its checkout', async (t) => {
  // The mail server of `npm run dev` has this port. Starting another there would fail.
  const holder = createServer()
  t.teardown(() => holder.close())
  await once(holder.listen(2525, '127.0.0.1'), 'listening').catch(() => undefined)
  const { url } = await startSandboxProcess(t, {
    NODE_ENV: 'production',
    MODE: 'test',
    SMTP_PORT: '',
    CHECKOUT_URL: 'https://test.tips.example/test/checkout',
  })
  const response = await fetch(`${url}/fiatpay/transaction/initialize`, {
    method: 'POST',
    headers: { authorization: 'Bearer sk_test_sandbox', 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'payer@example.com', amount: 10_000, currency: 'NGN', reference: 'tip-1' }),
  })
  const { data } = (await response.json()) as { data: { authorization_url: string } }
  t.is(data.authorization_url, 'https://test.tips.example/test/checkout/tip-1')
  const page = await fetch(`${url}/fiatpay/checkout/tip-1`)
  t.true((await page.text()).includes(testNotice))
})

test('a taken port is an error, and the sandbox does not start in production', async (t) => {
  const sandbox = await startSandbox({ port: 0 })
  t.teardown(() => sandbox.close())
  const taken = Number(new URL(sandbox.url).port)
  await t.throwsAsync(startSandbox({ port: taken }), { code: 'EADDRINUSE' })
  await t.throwsAsync(startSandbox({ port: taken - 1 }), { code: 'EADDRINUSE' })
  const child = spawn(process.execPath, [sandboxMain], {
    env: { ...process.env, NODE_ENV: 'production' },
    stdio: 'ignore',
  })
  t.is(await exitOf(child), 1)
})
