import { randomInt } from 'node:crypto'
import { Keypair, type PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import test from 'ava'
import fc from 'fast-check'
import { pool, swapInstruction, swapProgramId } from '../../../scripts/sandbox/aggregator/swap-program.js'
import { type Sandbox, startSandbox } from '../../../scripts/sandbox/server.js'
import { connect, fundedKeypair, unsignedTransaction } from '../chain-client.js'
import { createSupporter, executeOrder, mintOf, requestOrder, requestQuote, unusedKey } from './client.js'

// A panic in the virtual machine aborts the whole process before any assertion, so the seed is printed first.
const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31))
process.stderr.write(`swap-hostile: FUZZ_SEED=${seed}\n`)
const parameters = { seed, numRuns: Number(process.env['FUZZ_RUNS'] ?? 100) }

let sandbox: Sandbox
test.before(async () => {
  sandbox = await startSandbox({ port: 0, slotMs: 60 })
})
test.after.always(() => sandbox.close())

const hostileText = fc.oneof(
  fc.constantFrom(
    '',
    '0',
    '-1',
    '1e400',
    '18446744073709551615',
    '18446744073709551616',
    '__proto__',
    'null',
  ),
  fc.constantFrom(swapProgramId, SystemProgram.programId, pool).map((key) => key.toBase58()),
  fc.constantFrom('SOL', 'USDC', 'BONK').map(mintOf),
  fc.string({ maxLength: 100 }),
  fc.uint8Array({ minLength: 32, maxLength: 32 }).map((bytes) => Buffer.from(bytes).toString('base64')),
)
const hostileValue = fc.oneof(hostileText, fc.jsonValue({ maxDepth: 2 }))

/** A record in which up to three fields are replaced or removed. */
function mutated(genuine: Record<string, unknown>, values: fc.Arbitrary<unknown>): fc.Arbitrary<object> {
  const change = fc.tuple(fc.constantFrom(...Object.keys(genuine)), fc.option(values, { nil: undefined }))
  return fc
    .array(change, { minLength: 1, maxLength: 3 })
    .map((changes) => ({ ...genuine, ...Object.fromEntries(changes) }))
}

function ask(path: string, query: object): Promise<Response> {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value))
  return fetch(`${sandbox.url}${path}?${search}`)
}

function post(path: string, body: unknown): Promise<Response> {
  return fetch(`${sandbox.url}${path}`, { method: 'POST', body: JSON.stringify(body) ?? '' })
}

/** Returns the status of an answer. Throws unless it is 200 or 400. */
async function statusOf(answer: Promise<Response>): Promise<number> {
  const { status } = await answer.then(async (response) => ({
    status: response.status,
    body: await response.text(),
  }))
  if (status !== 200 && status !== 400) throw new Error(`answered ${status}`)
  return status
}

test.serial('no query crashes the engines', async (t) => {
  const taker = unusedKey().toBase58()
  const common = { inputMint: mintOf('SOL'), outputMint: mintOf('USDC'), amount: '1000000' }
  const referral = { referralAccount: sandbox.aggregator.referralAccount, referralFee: '200' }
  const orders = mutated(
    { ...common, taker, receiver: taker, ...referral, excludeRouters: 'okx' },
    hostileText,
  )
  const quotes = mutated(
    { ...common, platformFeeBps: '200', slippageBps: '50', maxAccounts: '64', swapMode: 'ExactIn' },
    hostileText,
  )
  const statuses = new Set<number>()
  await fc.assert(
    fc.asyncProperty(orders, quotes, async (one, other) => {
      statuses.add(await statusOf(ask('/ultra/v1/order', one)))
      statuses.add(await statusOf(ask('/swap/v1/quote', other)))
    }),
    parameters,
  )
  t.deepEqual([...statuses].sort(), [200, 400], 'some requests are valid')
})

test.serial('no body crashes the engines', async (t) => {
  const supporter = await createSupporter(sandbox)
  const userPublicKey = supporter.publicKey.toBase58()
  const quoted = (await requestQuote(sandbox, 'SOL', 'USDC', { amount: '1000000', platformFeeBps: '0' })).body
  const genuine = {
    userPublicKey,
    feeAccount: userPublicKey,
    trackingAccount: userPublicKey,
    destinationTokenAccount: userPublicKey,
    nativeDestinationAccount: null,
    wrapAndUnwrapSol: true,
    dynamicComputeUnitLimit: true,
    prioritizationFeeLamports: 5,
  }
  const bodies = fc
    .tuple(mutated(quoted, hostileValue), mutated(genuine, hostileValue), fc.boolean())
    .map(([quoteResponse, body, whole]) => ({ quoteResponse: whole ? quoted : quoteResponse, ...body }))
  const orders = mutated({ requestId: 'x', signedTransaction: 'AAAA' }, hostileValue)
  const statuses = new Set<number>()
  await fc.assert(
    fc.asyncProperty(bodies, orders, hostileValue, async (body, ordered, anything) => {
      statuses.add(await statusOf(post('/swap/v1/swap', body)))
      await statusOf(post('/ultra/v1/execute', ordered))
      await statusOf(post('/swap/v1/swap', anything))
      await statusOf(post('/dev/aggregator', anything))
    }),
    parameters,
  )
  await post('/dev/reset', { what: ['aggregator'] })
  t.deepEqual([...statuses].sort(), [200, 400], 'some requests are valid')
})

test.serial(
  'no call of the swap program crashes the chain, and the program signs only for the pool',
  async (t) => {
    const connection = connect(sandbox)
    const [payer, victim] = await Promise.all([
      fundedKeypair(connection, 10 ** 9),
      fundedKeypair(connection, 10 ** 9),
    ])
    const keys = [
      payer.publicKey,
      victim.publicKey,
      pool,
      SystemProgram.programId,
      Keypair.generate().publicKey,
    ]
    const call = fc.record({
      named: fc.array(fc.constantFrom(...keys), { maxLength: 70 }),
      data: fc.uint8Array({ maxLength: 120 }),
    })
    const { blockhash } = await connection.getLatestBlockhash('processed')
    await fc.assert(
      fc.asyncProperty(call, async ({ named, data }) => {
        const metas = named.map((pubkey) => ({ pubkey, isSigner: false, isWritable: true }))
        const wild = new TransactionInstruction({
          programId: swapProgramId,
          keys: metas,
          data: Buffer.from(data),
        })
        const transaction = await unsignedTransaction(connection, payer.publicKey, [wild])
        transaction.message.recentBlockhash = blockhash
        sandbox.chain.simulate(transaction.serialize(), { verifySignatures: false, anyBlockhash: true })
      }),
      parameters,
    )
    const pays = (from: PublicKey, to: PublicKey) =>
      SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: 1_000 })
    const outcome = async (instruction: TransactionInstruction) => {
      for (const meta of instruction.keys) meta.isSigner = false
      const raw = (await unsignedTransaction(connection, payer.publicKey, [instruction])).serialize()
      return sandbox.chain.simulate(raw, { verifySignatures: false, anyBlockhash: true })
    }
    const stolen = await outcome(swapInstruction([pays(victim.publicKey, payer.publicKey)], []))
    t.regex(stolen.logs.join('\n'), /signer privilege escalated/)
    const paid = await outcome(swapInstruction([pays(pool, payer.publicKey)], []))
    t.is(paid.err, null)
  },
)

test.serial('swaps still work after the hostile requests', async (t) => {
  const supporter = await createSupporter(sandbox)
  const taker = supporter.publicKey.toBase58()
  const ordered = await requestOrder(sandbox, 'SOL', 'USDC', { amount: '10000000', taker })
  t.is((await executeOrder(sandbox, ordered, supporter)).body.status, 'Success')
})
