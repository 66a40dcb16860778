import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Keypair } from '@solana/web3.js'
import test from 'ava'
import { associatedAccount, openTokenAccounts, requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import { solMint, tokenBySymbol, tokens } from '../../src/kernel/tokens.js'
import { countAlerts } from '../helpers/alerts-and-mails.js'
import { registerCreator } from '../helpers/make/creators.js'
import { createIntent, type IntentBody } from '../helpers/make/intents.js'
import { createSupporter, unusedWallet } from '../helpers/make/supporter.js'
import { type ScriptRun, spawnOpsScript } from '../helpers/run-ops-script.js'
import { startApp } from '../helpers/servers/serve-app.js'
import { useWorld } from '../helpers/servers/world.js'

// The platform fee when its token accounts do not exist, and how an operator opens them.

const [treasury, referral] = [unusedWallet(), unusedWallet()]
const world = useWorld(test, {
  chain: true,
  env: { TREASURY_WALLET: treasury, AGGREGATOR_REFERRAL_ACCOUNT: referral },
})
const mintOf = (symbol: string): string => tokenBySymbol(symbol)?.mint ?? ''
const bonkUnits = 75_000_000_000n

function holds(wallet: string, symbol: string): bigint {
  const { svm } = world().sandbox.chain
  const account = associatedAccount(wallet, mintOf(symbol)).toBase58()
  return svm.account(account)?.data.readBigUInt64LE(64) ?? 0n
}

const feesLeftOut = () => countAlerts(world(), 'fee_leg_left_out')

/** Tips 15 dollars of BONK to a creator who receives USDC. */
async function tip(): Promise<{ intent: IntentBody; received: bigint; fee: string }> {
  const creator = await registerCreator(world(), { autoConvertUsdc: true })
  const supporter = createSupporter(world().sandbox, ['BONK'])
  const intent = await createIntent(world().request, {
    creatorId: creator.user.id,
    amount: Number(bonkUnits) / 1e5,
    inputTokenMint: mintOf('BONK'),
    sourceWalletAddress: supporter.wallet,
  })
  supporter.pay(intent.transaction)
  const row = await world().db('payment_intents').where({ id: intent.intentId }).first()
  return { intent, received: holds(creator.wallet, 'USDC'), fee: row.fee_raw }
}

function setupTreasury(args: readonly string[], change: Record<string, string> = {}): Promise<ScriptRun> {
  return spawnOpsScript({ env: { ...world().env, ...change } }, 'setup-treasury', ...args)
}

/** A key pair file of a wallet with this much SOL. */
function payerFile(lamports: bigint): string {
  const keypair = Keypair.generate()
  if (lamports > 0n) requestAirdrop(world().sandbox.chain, keypair.publicKey.toBase58(), lamports)
  const file = join(mkdtempSync(join(tmpdir(), 'payer-')), 'id.json')
  writeFileSync(file, JSON.stringify([...keypair.secretKey]))
  return file
}

test.serial('without our token account a swapped tip has no fee and raises an alert', async (t) => {
  const before = await feesLeftOut()
  const { intent, received, fee } = await tip()
  t.is(intent.provider, 'aggregator-v6', 'Ultra dropped our fee silently')
  t.is(fee, '0')
  t.is(await feesLeftOut(), before + 1)
  t.true(received >= BigInt(intent.quote.outAmount))
  // Fifteen dollars minus the pool's fee. With the platform fee it would be 14.69.
  t.true(received > 14_980_000n, String(received))
})

test.serial("with an account only for the supporter's token, the fee is taken in it", async (t) => {
  openTokenAccounts(world().sandbox.chain, treasury, [mintOf('BONK')])
  const before = await feesLeftOut()
  const { intent, received, fee } = await tip()
  t.is(intent.provider, 'aggregator-v6')
  t.is(BigInt(fee), bonkUnits / 50n)
  t.is(await feesLeftOut(), before)
  t.true(received >= BigInt(intent.quote.outAmount) && received < 14_700_000n, String(received))
  const kept = holds(treasury, 'BONK')
  t.true(kept >= (bonkUnits * 199n) / 10_000n && kept <= bonkUnits / 50n, String(kept))
})

test.serial('invalid arguments and settings are refused with the reason', async (t) => {
  requestAirdrop(world().sandbox.chain, referral, 1_000_000n)
  const rich = payerFile(10n ** 9n)
  const refused: [args: string[], env: Record<string, string>, code: number, text: RegExp][] = [
    [['--apply'], {}, 2, /--apply needs --payer/],
    [['--what'], {}, 2, /--help/],
    [[], { TREASURY_WALLET: 'nobody' }, 1, /TREASURY_WALLET.*base58/],
    [[], { AGGREGATOR_REFERRAL_ACCOUNT: unusedWallet() }, 1, /does not exist on this chain/],
    [[], { SOLANA_RPC_URLS: 'http://127.0.0.1:1' }, 5, /./],
    [['--apply', '--payer', '/nowhere.json'], {}, 1, /cannot be read as a key pair file/],
    [['--apply', '--payer', payerFile(0n)], {}, 1, /does not accept the transaction/],
    [['--apply', '--payer', rich], { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' }, 5, /ECONNREFUSED/],
  ]
  for (const [args, env, code, text] of refused) {
    const run = await setupTreasury(args, env)
    t.is(run.code, code, run.err)
    t.regex(run.err, text)
    t.is(run.out, '')
  }
  t.is((await setupTreasury(['--help'])).code, 0)
  t.deepEqual(await world().db('audit_log'), [])
})

test.serial('the script opens missing accounts, and the next tip pays the fee', async (t) => {
  const plan = await setupTreasury([])
  t.is(plan.code, 0)
  t.is(plan.out.match(/MISSING/g)?.length, 2 * tokens.length - 2, plan.out)
  t.regex(plan.out, /LACKS 890880 lamports/)
  t.regex(plan.out, /not done yet; add --apply/)
  t.is(holds(treasury, 'USDC'), 0n)

  const done = await setupTreasury(['--apply', '--payer', payerFile(10n ** 9n), '--as', 'Grace'])
  t.is(done.code, 0, done.err)
  t.notRegex(done.out, /MISSING|LACKS/)
  t.regex(done.out, /\ndone: /)
  const entries = await world().db('audit_log').where({ action: 'setup-treasury' })
  t.is(entries.length, 2, 'one for each transaction')
  t.like(entries[0], { actor: 'Grace', subject: `treasury:${treasury}` })

  const again = await setupTreasury(['--apply', '--payer', payerFile(0n), '--json'])
  t.like(JSON.parse(again.out), { ok: true, lamportsMissing: '0', signatures: [] })

  const before = await feesLeftOut()
  const { intent, fee } = await tip()
  t.is(intent.provider, 'aggregator-ultra')
  t.is(BigInt(fee), bonkUnits / 50n)
  t.true(holds(referral, 'USDC') > 230_000n, 'four fifths of two percent of 15 dollars')
  t.is(await feesLeftOut(), before)
})

for (const [name, env, provider] of [
  ['no referral account', { AGGREGATOR_REFERRAL_ACCOUNT: '' }, 'aggregator-v6'],
  ['a fee Ultra does not take', { CRYPTO_FEE_BPS: '40' }, 'aggregator-v6'],
  ['no fee', { CRYPTO_FEE_BPS: '0' }, 'aggregator-ultra'],
  ['v6 alone', { AGGREGATOR_ULTRA_URL: '' }, 'aggregator-v6'],
  ['Ultra alone', { AGGREGATOR_V6_URL: '' }, 'aggregator-ultra'],
  ['neither engine', { AGGREGATOR_ULTRA_URL: '', AGGREGATOR_V6_URL: '' }, '503 Swap engines unavailable'],
] as const)
  test.serial(`with ${name} a swap is built by ${provider}`, async (t) => {
    const creator = await registerCreator(world(), { autoConvertUsdc: true })
    const { url } = await startApp(t, { ...world().env, ...env })
    const response = await fetch(`${url}/payments/intent`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        creatorId: creator.user.id,
        amountUsd: 10,
        inputTokenMint: solMint,
        sourceWalletAddress: createSupporter(world().sandbox).wallet,
      }),
    })
    const answer = (await response.json()) as IntentBody & { error?: string }
    t.is(answer.provider ?? `${response.status} ${answer.error}`, provider)
    if (answer.intentId === undefined) return
    const row = await world().db('payment_intents').where({ id: answer.intentId }).first()
    const bps = BigInt('CRYPTO_FEE_BPS' in env ? env.CRYPTO_FEE_BPS : 200)
    t.is(BigInt(row.fee_raw), (BigInt(row.input_raw) * bps) / 10_000n)
  })
