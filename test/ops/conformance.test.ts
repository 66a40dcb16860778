import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Keypair, PublicKey, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import test from 'ava'
import { closeServer } from '../../scripts/sandbox/http-server.js'
import { type Sandbox, startSandbox } from '../../scripts/sandbox/server.js'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { createFiatpayCollections } from '../../src/providers/fiatpay/collections.js'
import { createFiatpayRefunds } from '../../src/providers/fiatpay/refunds.js'
import { createSupporter } from '../helpers/make/supporter.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { versionOneTransfer } from '../providers/version-one.js'

interface Reply {
  readonly status: number
  readonly body: unknown
}

/** Changes an answer of the stand-ins, or leaves it. */
type Alter = (
  path: string,
  authorization: string | undefined,
  sent: unknown,
  reply: Reply,
) => Reply | undefined

// biome-ignore lint/suspicious/noExplicitAny: any answer of any stand-in
type Json = any

const treasury = Keypair.generate().publicKey.toBase58()
/** Contains a key, as many RPC providers' addresses do. */
const rpcPath = '/v2/an-rpc-key-of-ours'
let alter: Alter | undefined
let sandbox: Sandbox
let proxy: ReturnType<typeof createServer>
let env: Record<string, string>
/** The local chain cannot make one. The proxy adds it. */
let versionOne: { readonly signature: string; readonly result: unknown }

test.before('stand-ins with something of everything', async () => {
  sandbox = await startSandbox({ port: 0, slotMs: 0, treasury, fiatpayFees: true })
  proxy = createServer(async (request, response) => {
    const path = request.url ?? '/'
    const { authorization } = request.headers
    const body = await text(request)
    const sent = body === '' ? undefined : JSON.parse(body)
    const answer = await fetch(new URL(path === rpcPath ? '/' : path, sandbox.url), {
      method: request.method ?? 'GET',
      ...(authorization !== undefined && { headers: { authorization } }),
      ...(body !== '' && { body }),
    })
    const received = { status: answer.status, body: await answer.json() }
    const known = path === rpcPath ? withVersionOne(sent, received) : received
    const reply = alter?.(path, authorization, sent, known) ?? known
    response.writeHead(reply.status, { 'content-type': 'application/json', connection: 'close' })
    response.end(JSON.stringify(reply.body))
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const url = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
  env = {
    // So that the command does not look for the settings of a stack.
    DATABASE_URL: 'postgres://127.0.0.1:1/none',
    SOLANA_RPC_URLS: `${url}${rpcPath}`,
    SOLANA_GENESIS_HASH: sandbox.chain.clock.genesisHash,
    TREASURY_WALLET: treasury,
    AGGREGATOR_ULTRA_URL: `${url}/ultra/v1`,
    AGGREGATOR_V6_URL: `${url}/swap/v1`,
    AGGREGATOR_REFERRAL_ACCOUNT: sandbox.aggregator.referralAccount,
    PRICE_URL: `${url}/price/v3`,
    RATE_URL: `${url}/rates/USD`,
    SECOND_RATE_URL: `${url}/rates/USD?second`,
    FIATPAY_URL: `${url}/fiatpay`,
    FIATPAY_SECRET_KEY: sandbox.fiatpay.secretKey,
    PAYOUT_SECRET_KEY: '',
    SMTP_URL: sandbox.mail.url,
    MAIL_FROM: 'Tips <support@tips.example>',
  }
  await makePayments(url)
  makeTransactions()
})

test.after.always('the stand-ins end', async () => {
  await closeServer(proxy)
  await sandbox.close()
})

/** A payment, a refund and a dispute. */
async function makePayments(url: string): Promise<void> {
  const access = { url: `${url}/fiatpay`, secretKey: sandbox.fiatpay.secretKey, timeoutMs: 5000 }
  const collections = createFiatpayCollections({ ...access, returnUrl: 'https://tips.example/paid' })
  const [refunded, disputed] = ['a'.repeat(32), 'b'.repeat(32)]
  for (const reference of [refunded, disputed]) {
    await collections.openCheckout({ reference, amountKobo: 500_000n, email: 'ada.payer@example.org' })
    const charge = sandbox.fiatpay.charges.find(reference)
    if (charge !== undefined) sandbox.fiatpay.pay(charge, 500_000)
  }
  await fetch(`${sandbox.url}/dev/fiatpay/charges/${disputed}`, {
    method: 'POST',
    body: JSON.stringify({ outcome: 'disputed' }),
  })
  const [payment] = await collections.listPayments(refunded)
  const refund = { transaction: payment?.transaction ?? '', kobo: 1000n, note: 'a note' }
  await createFiatpayRefunds(access).request(refund)
}

/** Transactions of all three versions. The faucet makes those of version 0. */
function makeTransactions(): void {
  const supporter = createSupporter(sandbox, ['USDC'])
  const [from, to] = [supporter.keypair.publicKey, Keypair.generate().publicKey]
  const transfer = SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: 1_000_000 })
  const { chain } = sandbox
  const legacy = new VersionedTransaction(
    new TransactionMessage({
      payerKey: from,
      recentBlockhash: chain.clock.hashOf(chain.clock.slot),
      instructions: [
        SystemProgram.transfer({ fromPubkey: from, toPubkey: new PublicKey(treasury), lamports: 1_000_000 }),
      ],
    }).compileToLegacyMessage(),
  )
  legacy.sign([supporter.keypair])
  chain.submit(legacy.serialize(), { skipPreflight: false })
  chain.advance(40)
  const { raw, signature } = versionOneTransfer([from, to, SystemProgram.programId], transfer.data)
  versionOne = {
    signature: encodeBase58(signature),
    result: {
      slot: 5,
      blockTime: 1_700_000_000,
      version: 1,
      transaction: [Buffer.from(raw).toString('base64'), 'base64'],
      meta: {
        err: null,
        fee: 5000,
        preBalances: [10_000_000, 0, 1],
        postBalances: [8_995_000, 1_000_000, 1],
      },
    },
  }
}

/** Changes the answers to one method, also in a batch. */
function onRpc(method: string, change: (reply: Json, params: Json, calls: number) => Json): Alter {
  return (path, _key, sent, { status, body }) => {
    if (path !== rpcPath) return undefined
    const calls = [sent].flat() as Json[]
    const changed = ([body].flat() as Json[]).map((reply) => {
      const call = calls.find(({ id }) => id === reply.id)
      return call?.method === method ? change(reply, call.params, calls.length) : reply
    })
    return { status, body: Array.isArray(body) ? changed : changed[0] }
  }
}

function withVersionOne(sent: unknown, received: Reply): Reply {
  const { signature, result } = versionOne ?? {}
  const shown = onRpc('getTransaction', (reply, [wanted]) =>
    wanted === signature ? { jsonrpc: '2.0', id: reply.id, result } : reply,
  )
  const landed = onRpc('getSignatureStatuses', (reply, [wanted]) => {
    const at = wanted.indexOf(signature)
    if (at >= 0 && reply.result)
      reply.result.value[at] = { slot: 5, confirmations: null, err: null, confirmationStatus: 'finalized' }
    return reply
  })
  const one = shown(rpcPath, undefined, sent, received) ?? received
  return landed(rpcPath, undefined, sent, one) ?? one
}

/** Changes `data` of the successful answers whose path begins so. */
function onData(path: string, change: (data: Json) => Json): Alter {
  return (asked, _key, _sent, { status, body }) =>
    asked.startsWith(`/fiatpay${path}`) && status < 300
      ? { status, body: { ...(body as Json), data: change((body as Json).data) } }
      : undefined
}

/** Answers otherwise where the stand-in answers with this status. */
function onStatus(path: string, status: number, other: number, data: Json = {}): Alter {
  return (asked, _key, _sent, reply) =>
    asked.startsWith(`/fiatpay${path}`) && reply.status === status
      ? { status: other, body: other < 300 ? { status: true, data } : reply.body }
      : undefined
}

function onBody(path: string, change: (body: Json) => Json): Alter {
  return (asked, _key, _sent, { status, body }) =>
    asked.startsWith(path) && status === 200 ? { status, body: change(body) } : undefined
}

const rpcError = (reply: Json): Json => ({
  jsonrpc: '2.0',
  id: reply.id,
  error: { code: -32602, message: 'Too many inputs' },
})
const broken = (version: unknown): Alter =>
  onRpc('getTransaction', (reply) =>
    reply.result?.version === version
      ? { ...reply, result: { ...reply.result, transaction: ['AAAA', 'base64'] } }
      : reply,
  )

/** For each question an answer that deviates. The e-mail questions have no HTTP to change. */
const deviations: Readonly<Record<string, Readonly<Record<string, Alter>>>> = {
  fiatpay: {
    'wrong key': (_path, key, _sent, { body }) =>
      key === 'Bearer sk_test_nobody' ? { status: 403, body } : undefined,
    balance: onData('/balance', () => []),
    banks: onData('/bank?', (data) => data.map((bank: Json) => ({ ...bank, name: '' }))),
    resolve: onData('/bank/resolve', () => ({})),
    charge: onData('/charge', (data) => ({ ...data, status: 'success' })),
    checkout: onData('/transaction/initialize', (data) => ({ ...data, authorization_url: 'none' })),
    verify: onData('/transaction/verify/', (data) =>
      data.paid_at === null ? { ...data, status: 'success', paid_at: '2026-01-01T00:00:00.000Z' } : data,
    ),
    'verify unknown': onStatus('/transaction/verify/', 404, 400),
    'reference used twice': onStatus('/transaction/initialize', 400, 200, {
      authorization_url: 'https://pay.example',
    }),
    'list by reference': onData('/transaction?reference=', (data) =>
      data.map((row: Json) => ({ ...row, reference: row.paid_at === null ? 'another' : row.reference })),
    ),
    payments: onData('/transaction/verify/', (data) => ({ ...data, amount: data.amount + 1 })),
    recipient: onData('/transferrecipient', (data) => ({ ...data, recipient_code: `RCP_${Math.random()}` })),
    transfer: onData('/transfer', (data) => ('transfer_code' in data ? { ...data, currency: 'GHS' } : data)),
    'transfer verify': onData('/transfer/verify/', (data) => ({ ...data, amount: data.amount + 1 })),
    'transfer list': onData('/transfer?', () => []),
    'transfer used twice': onStatus('/transfer', 400, 500),
    'transfer unknown': onStatus('/transfer/verify/', 404, 400),
    refunds: onData('/refund', (data) => data.map((row: Json) => ({ ...row, id: 'one' }))),
    disputes: onData('/dispute', (data) =>
      Array.isArray(data) ? data.map((row: Json) => ({ ...row, status: 'odd' })) : data,
    ),
  },
  solana: {
    genesis: onRpc('getGenesisHash', (reply) => ({ ...reply, result: 'another' })),
    blockhash: onRpc('getLatestBlockhash', (reply) => {
      reply.result.value.lastValidBlockHeight += 1000
      return reply
    }),
    signatures: onRpc('getSignaturesForAddress', (reply) => (reply.id === 0 ? rpcError(reply) : reply)),
    statuses: onRpc('getSignatureStatuses', (reply) => {
      reply.result.value = reply.result.value.map(() => null)
      return reply
    }),
    'status batch': onRpc('getSignatureStatuses', (reply, [wanted]) =>
      wanted.length > 100 ? rpcError(reply) : reply,
    ),
    'transaction batch': onRpc('getTransaction', (reply) => (reply.id === 0 ? rpcError(reply) : reply)),
    'version legacy': broken('legacy'),
    'version 0': broken(0),
    'version 1': broken(1),
    accounts: onRpc('getMultipleAccounts', (reply) => ({
      ...reply,
      result: { ...reply.result, value: reply.result.value.slice(1) },
    })),
  },
  swaps: {
    ultra: onBody('/ultra/v1/order', (body) => ({ ...body, signatureFeePayer: 'somebody' })),
    v6: onBody('/swap/v1/quote', (body) => ({ ...body, outAmount: '1.5' })),
  },
  prices: { prices: onBody('/price/v3', (body) => Object.fromEntries(Object.entries(body).slice(1))) },
  rates: {
    RATE_URL: onBody('/rates/USD', (body) => ({ ...body, rates: { NGN: null } })),
    SECOND_RATE_URL: onBody('/rates/USD?second', (body) => ({ ...body, asOf: '2020-01-01T00:00:00Z' })),
  },
}

interface Result {
  readonly code: number
  readonly out: string
  readonly checks: readonly { provider: string; name: string; state: string; text: string }[]
}

async function conformance(changes: Record<string, string>, ...args: readonly string[]): Promise<Result> {
  const asked = ['--signature', versionOne.signature, ...args]
  const { code, out } = await runOpsScript({ env: { ...env, ...changes } }, 'conformance', '--json', ...asked)
  return { code, out, ...JSON.parse(out) }
}

const namesOf = ({ checks }: Result, state: string): string[] =>
  checks
    .filter((check) => check.state === state)
    .map(({ provider, name }) => `${provider.split(' ')[0]} ${name}`)

test.serial('the stand-ins agree with every question, and each question can fail', async (t) => {
  const all = await conformance({})
  t.deepEqual(
    all.checks.filter(({ state }) => state === 'differs'),
    [],
  )
  t.is(all.code, 0)
  t.false(all.out.includes('an-rpc-key-of-ours'), 'no secret is printed')
  t.deepEqual(namesOf(all, 'not asked'), ['fiatpay webhooks'])

  const shown = new Set<string>()
  for (const [provider, answers] of Object.entries(deviations))
    for (const [name, deviation] of Object.entries(answers)) {
      alter = deviation
      const result = await conformance({}, '--only', provider)
      t.is(result.code, 4)
      t.true(namesOf(result, 'differs').includes(`${provider} ${name}`), `${provider} ${name}: ${result.out}`)
      shown.add(`${provider} ${name}`)
    }
  alter = undefined
  const mail = await conformance({ SMTP_URL: 'smtp://127.0.0.1:1' }, '--only', 'smtp')
  for (const name of namesOf(mail, 'differs')) shown.add(name)
  t.deepEqual(namesOf(all, 'agrees').sort(), [...shown].sort())
})

test.serial('a key that is not for tests is refused before anything is asked', async (t) => {
  const before = sandbox.fiatpay.calls.httpRequests
  for (const setting of ['FIATPAY_SECRET_KEY', 'PAYOUT_SECRET_KEY'])
    for (const key of ['sk_live_x', 'another', 'sk_live_x,sk_test_y']) {
      const { code, out } = await conformance({ [setting]: key })
      t.is(code, 1)
      t.regex(out, setting === 'PAYOUT_SECRET_KEY' && key.includes(',') ? /one key/ : /is not a test key/)
    }
  t.is(sandbox.fiatpay.calls.httpRequests, before)
  const others = await conformance({ FIATPAY_SECRET_KEY: 'sk_live_x' }, '--only', 'prices,rates')
  t.is(others.code, 0)
  const { code } = await conformance({ PRICE_URL: '' }, '--only', 'prices')
  t.is(code, 4, 'nothing was asked')
  t.is((await runOpsScript({ env }, 'conformance', '--only', 'nobody')).code, 2)
})
