import { createCloseAccountInstruction } from '@solana/spl-token'
import {
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
  TransactionMessage,
  VersionedMessage,
} from '@solana/web3.js'
import test from 'ava'
import fc from 'fast-check'
import { solMint, tokens, usdc } from '../../src/kernel/tokens.js'
import type { CustodyBook } from '../../src/ledger/custody.js'
import { associatedAccount } from '../../src/providers/solana/build-transfer.js'
import { buildMessage, readMessage } from '../../src/providers/solana/custody-message.js'
import { decideSigning, type MoveFacts, paymentOf } from '../../src/treasury/custodian/decide-signing.js'
import { rules } from '../../src/treasury/custodian/rules.js'
import { seededRuns } from '../helpers/random.js'

const [custody = '', own = '', foreign = '', reference = '', other = ''] = Array.from({ length: 5 }, () =>
  Keypair.generate().publicKey.toBase58(),
)
const [guardProgram = ''] = rules.takeOut.guards
const blockhash = '11111111111111111111111111111111'
const key = (address: string, isSigner = false, isWritable = false) => ({
  pubkey: new PublicKey(address),
  isSigner,
  isWritable,
})
type Instructions = TransactionInstruction[]
const guard = (program = guardProgram, address = own) =>
  new TransactionInstruction({
    programId: new PublicKey(program),
    keys: [key(address)],
    data: Buffer.from([1, 2, 3]),
  })
const last = (given: Instructions) => given.at(-1) as TransactionInstruction
const changed = (given: Instructions, change: Partial<TransactionInstruction>): Instructions => [
  ...given.slice(0, -1),
  new TransactionInstruction({ ...last(given), ...change }),
]
const withKey = (given: Instructions, index: number, address: string): Instructions =>
  changed(given, {
    keys: last(given).keys.map((one, at) =>
      at === index ? { ...one, pubkey: new PublicKey(address) } : one,
    ),
  })
const withByte = (given: Instructions, at: number): Instructions => {
  const data = Buffer.from(last(given).data)
  data[at % data.length] = (data[at % data.length] ?? 0) ^ 1
  return changed(given, { data })
}

const closing = (mint: string, to: string) =>
  createCloseAccountInstruction(
    new PublicKey(associatedAccount(custody, mint)),
    new PublicKey(to),
    new PublicKey(custody),
  )

/** What wallets do, and what is signed. */
const harmless: Readonly<Record<string, (given: Instructions) => Instructions>> = {
  nothing: (given) => given,
  'guards around': (given) => [guard(), ...given, guard()],
  'another price': (given) => [
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 50_000 }),
    ...given.slice(2),
  ],
  'no compute budget': (given) => given.slice(2),
}

/** What a thief's page or a hostile wallet does. `at` chooses a place. */
const hostile: Readonly<Record<string, (given: Instructions, at: number) => Instructions>> = {
  'another program': (given) => [...given, guard(foreign)],
  'a guard that names the custody wallet': (given) => [...given, guard(guardProgram, custody)],
  'one more transfer of SOL': (given) => [
    ...given,
    SystemProgram.transfer({
      fromPubkey: new PublicKey(custody),
      toPubkey: new PublicKey(own),
      lamports: 1n,
    }),
  ],
  'the payment twice': (given) => [...given, last(given)],
  'no payment': (given) => given.slice(0, -1),
  'another account': (given, at) => withKey(given, at % last(given).keys.length, foreign),
  'another byte': withByte,
  'a longer payment': (given) =>
    changed(given, { data: Buffer.concat([last(given).data, Buffer.from([0])]) }),
  'one more account': (given) => changed(given, { keys: [...last(given).keys, key(foreign)] }),
  'no reference': (given) => changed(given, { keys: last(given).keys.slice(0, -1) }),
  'a nonce': (given) => [
    SystemProgram.nonceAdvance({
      noncePubkey: new PublicKey(foreign),
      authorizedPubkey: new PublicKey(own),
    }),
    ...given,
  ],
  'a new owner': (given) => [
    ...given,
    SystemProgram.assign({ accountPubkey: new PublicKey(custody), programId: new PublicKey(foreign) }),
  ],
  'wrapped SOL for the payout wallet': (given) => [closing(solMint, own), ...given],
  'a token account closed': (given) => [closing(usdc.mint, custody), ...given],
  'a high priority fee': (given) => [
    ComputeBudgetProgram.setComputeUnitLimit({ units: 1_400_000 }),
    ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 100_000_000 }),
    ...given.slice(2),
  ],
  'a third signer': (given) => [
    ...given,
    new TransactionInstruction({
      programId: new PublicKey(guardProgram),
      keys: [key(foreign, true)],
      data: Buffer.alloc(1),
    }),
  ],
}

const units = fc.bigInt({ min: 1n, max: 10n ** 15n })
const cases = fc.record({
  trick: fc.constantFrom(...Object.keys(harmless), ...Object.keys(hostile)),
  mint: fc.constantFrom(...tokens.map(({ mint }) => mint)),
  amount: units,
  spare: units,
  at: fc.nat(1000),
  payer: fc.constantFrom(own, own, own, own, foreign, custody),
})

test('of altered take-outs only those are signed that do the same', (t) => {
  const check = () =>
    fc.assert(
      fc.property(cases, ({ trick, mint, amount, spare, at, payer }) => {
        const plenty = amount + spare + 10n ** 9n
        const book: CustodyBook = { userId: 'u', mint, final: plenty, swept: 0n, takenOut: 0n, inFlight: 0n }
        const move: MoveFacts = {
          userId: 'u',
          mint,
          amount,
          referenceKey: reference,
          wallet: custody,
          destination: own,
          limit: plenty,
          book,
          source: { amount: plenty, fault: undefined },
          target: { amount: 0n, fault: undefined },
        }
        const payments = [paymentOf(move)]
        const plan = { payer: own, blockhash, opensAccounts: mint !== solMint, payments }
        const message = VersionedMessage.deserialize(buildMessage(plan))
        const plain = TransactionMessage.decompile(message)
        const alter = harmless[trick] ?? hostile[trick]
        plain.instructions = alter?.(plain.instructions, at) ?? []
        plain.payerKey = new PublicKey(payer)
        const fault = decideSigning({
          payer: own,
          message: readMessage(plain.compileToV0Message().serialize()),
          moves: [move],
          guards: rules.takeOut.guards,
          custodyWallets: new Set([custody, other].filter((wallet) => wallet === payer)),
          associatedAccount,
        })
        const isFine = harmless[trick] !== undefined && payer === own
        return (fault === undefined) === isFine
      }),
      seededRuns(t, 400, 2000),
    )
  t.notThrows(check)
})
