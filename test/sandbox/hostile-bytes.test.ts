import { createPrivateKey, randomInt, sign } from 'node:crypto'
import {
  createAssociatedTokenAccountIdempotentInstruction,
  getAssociatedTokenAddressSync,
} from '@solana/spl-token'
import {
  AddressLookupTableAccount,
  AddressLookupTableProgram,
  ComputeBudgetProgram,
  Ed25519Program,
  Keypair,
  PublicKey,
  Secp256k1Program,
  StakeProgram,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
  VoteProgram,
} from '@solana/web3.js'
import test from 'ava'
import { requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import { createInitialAccounts } from '../../scripts/sandbox/chain/initial-accounts.js'
import { LocalChain } from '../../scripts/sandbox/chain/local-chain.js'
import { RpcError } from '../../scripts/sandbox/chain/rpc/error.js'
import { RpcServer, rpcMethods } from '../../scripts/sandbox/chain/rpc/server.js'
import { tokenProgram } from '../../scripts/sandbox/chain/token-accounts.js'
import { tokens } from '../../src/kernel/tokens.js'
import { seededRandom } from '../helpers/random.js'

// A panic in the virtual machine aborts the whole process before any assertion, so the seed is printed first.
const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31))
const fuzzMs = Number(process.env['FUZZ_MS'] ?? 3_000)
process.stderr.write(`hostile-bytes: FUZZ_SEED=${seed}\n`)

/** Creates a source of whole numbers below a limit. */
function randomSource(start: number): (below: number) => number {
  const random = seededRandom(start)
  return (below) => Math.floor(random() * below)
}
type Random = ReturnType<typeof randomSource>

function pick<Item>(random: Random, items: readonly [Item, ...Item[]]): Item {
  return items[random(items.length)] ?? items[0]
}

const bytes = (random: Random, length: number) => Buffer.from(Array.from({ length }, () => random(256)))

function newChain(): LocalChain {
  const chain = new LocalChain({ seed: 'fuzz', slotMs: 0, confirmLag: 1, finalizeLag: 32 })
  createInitialAccounts(chain)
  chain.advance(600)
  return chain
}

function signerOf(keypair: Keypair): (message: Buffer) => Buffer {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
  const der = Buffer.concat([prefix, keypair.secretKey.subarray(0, 32)])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return (message) => sign(null, message, key)
}

const usdc = new PublicKey(tokens[1]?.mint ?? '')
const programs = [
  SystemProgram.programId,
  ComputeBudgetProgram.programId,
  AddressLookupTableProgram.programId,
  StakeProgram.programId,
  VoteProgram.programId,
  Ed25519Program.programId,
  Secp256k1Program.programId,
  new PublicKey(tokenProgram),
  new PublicKey('ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL'),
  new PublicKey('BPFLoaderUpgradeab1e11111111111111111111111'),
  new PublicKey('BPFLoader2111111111111111111111111111111111'),
  new PublicKey('Memo1UhkJRfHyvLMcVucJwxXeuD728EqVDDwQDxFMNo'),
] as const

function randomInstruction(random: Random, payer: PublicKey, others: readonly [PublicKey, ...PublicKey[]]) {
  const keys = Array.from({ length: random(6) }, () => ({
    pubkey: random(3) === 0 ? payer : pick(random, others),
    isSigner: false,
    isWritable: random(2) === 0,
  }))
  const data = bytes(random, random(60))
  // Most programs read a small number first. Without one they would refuse most inputs immediately.
  if (data.length >= 4 && random(4) > 0) data.writeUInt32LE(random(24), 0)
  return new TransactionInstruction({ programId: pick(random, programs), keys, data })
}

interface FuzzChain {
  readonly chain: LocalChain
  readonly payer: Keypair
  readonly others: readonly [PublicKey, ...PublicKey[]]
  readonly table: AddressLookupTableAccount
}

/** Creates a chain with a payer and a lookup table of real accounts. */
function createFuzzChain(): FuzzChain {
  const chain = newChain()
  const payer = Keypair.generate()
  requestAirdrop(chain, payer.publicKey.toBase58(), 1_000_000n * 10n ** 9n)
  const others = [
    Keypair.generate().publicKey,
    getAssociatedTokenAddressSync(usdc, payer.publicKey),
    usdc,
  ] as const
  const [create, key] = AddressLookupTableProgram.createLookupTable({
    authority: payer.publicKey,
    payer: payer.publicKey,
    recentSlot: chain.clock.slot - 1,
  })
  const extend = AddressLookupTableProgram.extendLookupTable({
    lookupTable: key,
    authority: payer.publicKey,
    payer: payer.publicKey,
    addresses: [...others],
  })
  const [token = usdc] = others.slice(1)
  const open = createAssociatedTokenAccountIdempotentInstruction(
    payer.publicKey,
    token,
    payer.publicKey,
    usdc,
  )
  const transaction = compile(chain, payer, [create, extend, open], [])
  transaction.sign([payer])
  chain.submit(transaction.serialize(), { skipPreflight: false })
  chain.advance(1)
  const data = chain.svm.account(key.toBase58())?.data ?? Buffer.alloc(0)
  const table = new AddressLookupTableAccount({ key, state: AddressLookupTableAccount.deserialize(data) })
  return { chain, payer, others: [...others, key], table }
}

function compile(
  chain: LocalChain,
  payer: Keypair,
  instructions: TransactionInstruction[],
  tables: AddressLookupTableAccount[],
): VersionedTransaction {
  const recentBlockhash = chain.clock.hashOf(chain.clock.slot)
  const message = new TransactionMessage({ payerKey: payer.publicKey, recentBlockhash, instructions })
  return new VersionedTransaction(message.compileToV0Message(tables))
}

function hostileTransaction(
  random: Random,
  { chain, payer, others, table }: FuzzChain,
  signMessage: (m: Buffer) => Buffer,
) {
  const instructions = Array.from({ length: 1 + random(3) }, () =>
    randomInstruction(random, payer.publicKey, others),
  )
  const transaction = compile(chain, payer, instructions, random(2) === 0 ? [table] : [])
  let message = Buffer.from(transaction.message.serialize())
  for (let flips = random(5); flips > 0; flips--) {
    const at = random(random(2) === 0 ? 6 : message.length)
    message[at] = random(2) === 0 ? random(6) : random(256)
  }
  if (random(8) === 0) message = message.subarray(0, random(message.length))
  if (random(8) === 0) message = Buffer.concat([message, bytes(random, random(8))])
  return new Uint8Array(Buffer.concat([Buffer.from([1]), signMessage(message), message]))
}

/** Whether the action is refused with an RpcError. Any other error is thrown. */
function isRefused(act: () => unknown): boolean {
  try {
    act()
    return false
  } catch (error) {
    if (error instanceof RpcError) return true
    throw error
  }
}

test('no signed bytes crash the chain', (t) => {
  const random = randomSource(seed)
  const fuzzed = createFuzzChain()
  const signMessage = signerOf(fuzzed.payer)
  const count = { sent: 0, refused: 0 }
  for (const end = performance.now() + fuzzMs; performance.now() < end; count.sent++) {
    const raw = hostileTransaction(random, fuzzed, signMessage)
    isRefused(() =>
      fuzzed.chain.simulate(raw, { verifySignatures: random(2) === 0, anyBlockhash: random(2) === 0 }),
    )
    if (isRefused(() => fuzzed.chain.submit(raw, { skipPreflight: random(2) === 0 }))) count.refused++
    if (random(20) === 0) fuzzed.chain.advance(1)
  }
  t.log(`seed ${seed}:`, count, `landed ${fuzzed.chain.ledger.size}`)
  t.true(count.refused > 0)
  t.true(fuzzed.chain.ledger.size > 10, 'some transactions are executed')
})

function hostileValue(random: Random, known: readonly [string, ...string[]], depth = 0): unknown {
  const scalars = [
    null,
    true,
    false,
    0,
    -1,
    1.5,
    1e308,
    2 ** 53,
    '',
    'x'.repeat(300),
    '\u0000',
    'processed',
    'base64',
  ] as const
  const choice = random(depth > 2 ? 2 : 5)
  if (choice === 0) return pick(random, scalars)
  if (choice === 1) return pick(random, known)
  if (choice === 2) return bytes(random, random(300)).toString('base64')
  const items = Array.from({ length: random(4) }, () => hostileValue(random, known, depth + 1))
  if (choice === 3) return items
  const names = [
    'encoding',
    'commitment',
    'limit',
    'mint',
    'programId',
    'filters',
    'memcmp',
    'data',
    'lamports',
    'accounts',
  ]
  return Object.fromEntries(items.map((item) => [names[random(names.length)], item]))
}

test('no parameters crash the JSON-RPC server', (t) => {
  const random = randomSource(seed)
  const { chain, payer, table } = createFuzzChain()
  const server = new RpcServer(chain, () => undefined)
  const methods = Object.keys(rpcMethods(chain))
  const [signature = ''] = chain.ledger.signaturesOf(payer.publicKey.toBase58())
  const known = [
    payer.publicKey.toBase58(),
    table.key.toBase58(),
    usdc.toBase58(),
    tokenProgram,
    signature,
  ] as const
  let answered = 0
  for (const end = performance.now() + fuzzMs / 3; performance.now() < end; ) {
    const method = methods[random(methods.length)]
    const params = Array.from({ length: random(4) }, () => hostileValue(random, known))
    const answer = server.call({ id: 1, method, params })
    if (answer.error?.code === -32603) t.fail(`${method} ${JSON.stringify(params)}: ${answer.error.message}`)
    if (answer.result !== undefined) answered++
    JSON.stringify(answer)
  }
  t.log(`seed ${seed}: ${answered} calls had a result`)
  t.true(answered > 50)
})
