import { createPrivateKey, randomInt, sign } from 'node:crypto'
import { getAssociatedTokenAddressSync } from '@solana/spl-token'
import {
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
  VoteProgram,
} from '@solana/web3.js'
import test from 'ava'
import fc from 'fast-check'
import { createLiquidity, lookupTableOf } from '../../scripts/sandbox/aggregator/liquidity.js'
import { requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import { createInitialAccounts } from '../../scripts/sandbox/chain/initial-accounts.js'
import { LocalChain } from '../../scripts/sandbox/chain/local-chain.js'
import { RpcError } from '../../scripts/sandbox/chain/rpc/error.js'
import { RpcServer, rpcMethods } from '../../scripts/sandbox/chain/rpc/server.js'
import { tokenProgram } from '../../scripts/sandbox/chain/token-accounts.js'
import { tokens } from '../../src/kernel/tokens.js'

// A panic in the virtual machine aborts the whole process before any assertion, so the seed is printed first.
const seed = Number(process.env['FUZZ_SEED'] ?? randomInt(2 ** 31))
/** By hand with more: FUZZ_RUNS=100000. */
const numRuns = Number(process.env['FUZZ_RUNS'] ?? 3000)
process.stderr.write(`hostile-bytes: FUZZ_SEED=${seed}\n`)

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
]

/** A chain with liquidity and a payer. */
function newChain() {
  const chain = new LocalChain({ seed: 'fuzz', slotMs: 0, confirmLag: 1, finalizeLag: 32 })
  createInitialAccounts(chain)
  createLiquidity(chain)
  chain.advance(600)
  const payer = Keypair.generate()
  requestAirdrop(chain, payer.publicKey.toBase58(), 1_000_000n * 10n ** 9n)
  return { chain, payer }
}

function signerOf({ secretKey }: Keypair): (message: Uint8Array) => Buffer {
  const prefix = Buffer.from('302e020100300506032b657004220420', 'hex')
  const der = Buffer.concat([prefix, secretKey.subarray(0, 32)])
  const key = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' })
  return (message) => sign(null, message, key)
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
  const { chain, payer } = newChain()
  const signMessage = signerOf(payer)
  const table = lookupTableOf(chain)
  const account = getAssociatedTokenAddressSync(usdc, payer.publicKey)
  const keys = [payer.publicKey, Keypair.generate().publicKey, account, usdc, table.key]
  const meta = fc.record({
    pubkey: fc.constantFrom(...keys, ...table.state.addresses),
    isSigner: fc.constant(false),
    isWritable: fc.boolean(),
  })
  const instruction = fc
    .record({
      programId: fc.constantFrom(...programs),
      keys: fc.array(meta, { maxLength: 6 }),
      // Most programs read a small number first. Without one they would refuse most inputs immediately.
      number: fc.nat(24),
      rest: fc.uint8Array({ maxLength: 60 }),
    })
    .map(({ number, rest, ...given }) => {
      const data = Buffer.concat([Buffer.from([number, 0, 0, 0]), rest])
      return new TransactionInstruction({ ...given, data })
    })
  const change = fc.record({ at: fc.oneof(fc.nat(6), fc.nat(1200)), byte: fc.oneof(fc.nat(6), fc.nat(255)) })
  let refused = 0
  const hostile = fc.property(
    fc.array(instruction, { minLength: 1, maxLength: 3 }),
    fc.array(change, { maxLength: 4 }),
    fc.option(fc.nat(1200), { freq: 8 }),
    fc.uint8Array({ maxLength: 2 }),
    (instructions, changes, cut, tail) => {
      const recentBlockhash = chain.clock.hashOf(chain.clock.slot)
      const given = { payerKey: payer.publicKey, recentBlockhash, instructions }
      let message = Buffer.from(new TransactionMessage(given).compileToV0Message([table]).serialize())
      for (const { at, byte } of changes) message[at % message.length] = byte
      if (cut !== null) message = Buffer.concat([message.subarray(0, cut), tail])
      const raw = new Uint8Array(Buffer.concat([Buffer.from([1]), signMessage(message), message]))
      isRefused(() => chain.simulate(raw, { verifySignatures: true, anyBlockhash: false }))
      if (isRefused(() => chain.submit(raw, { skipPreflight: true }))) refused++
      chain.advance(1)
    },
  )
  fc.assert(hostile, { seed, numRuns })
  t.log(`${refused} refused, ${chain.ledger.size} landed`)
  t.true(refused > 10 && chain.ledger.size > 10)
})

test('no parameters crash the JSON-RPC server', (t) => {
  const { chain, payer } = newChain()
  const server = new RpcServer(chain, () => undefined)
  const wallet = payer.publicKey.toBase58()
  const known = fc.constantFrom(wallet, usdc.toBase58(), tokenProgram, ...chain.ledger.signaturesOf(wallet))
  const value = fc.oneof(known, fc.array(known), fc.jsonValue({ maxDepth: 1 }), fc.base64String())
  const names = ['encoding', 'commitment', 'limit', 'mint', 'programId', 'data', 'lamports', 'accounts']
  const options = fc.dictionary(fc.constantFrom(...names), value)
  const methods = fc.constantFrom(...Object.keys(rpcMethods(chain)))
  let answered = 0
  const hostile = fc.property(
    methods,
    fc.array(fc.oneof(value, options), { maxLength: 3 }),
    (method, params) => {
      const answer = server.call({ id: 1, method, params })
      if (answer.result !== undefined) answered++
      return answer.error?.code !== -32603 && JSON.stringify(answer) !== ''
    },
  )
  fc.assert(hostile, { seed, numRuns })
  t.true(answered > 50)
})
