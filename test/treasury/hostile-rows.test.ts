import { Keypair, VersionedMessage } from '@solana/web3.js'
import test from 'ava'
import fc from 'fast-check'
import { decodeBase58, encodeBase58 } from '../../src/kernel/base58.js'
import { signMessageBytes, verifyTextSignature } from '../../src/kernel/ed25519.js'
import { solMint, tokens, usdc } from '../../src/kernel/tokens.js'
import type { CustodyBook } from '../../src/ledger/custody.js'
import type { MessagePlan, Payment, TokenSource } from '../../src/ports/custody-chain.js'
import { associatedAccount } from '../../src/providers/solana/build-transfer.js'
import { buildMessage, readMessage } from '../../src/providers/solana/custody-message.js'
import { decideSigning, type MoveFacts, paymentOf } from '../../src/treasury/custodian/decide-signing.js'
import { seededRuns } from '../helpers/random.js'

const pairs = Array.from({ length: 8 }, () => Keypair.generate())
const addresses = pairs.map(({ publicKey }) => publicKey.toBase58())
const [treasury = '', payer = '', foreign = ''] = addresses
const wallets = addresses.slice(3)
const custody = new Set(wallets)
const users = wallets.map((_, index) => `user-${index}`)
const mints = tokens.map(({ mint }) => mint)
const blockhash = '11111111111111111111111111111111'

/** What a hostile row, or a hostile message beside a good row, changes. */
const tricks = [
  'none',
  'foreign destination',
  'altered amount',
  'another mint',
  'more than the book',
  'more than the rule',
  'the same creator twice',
  'closed account',
  'frozen account',
  'wrong owner',
  'frozen destination',
  'short chain',
  'custody pays the fee',
  'paid to a custody wallet',
  'message to a foreign wallet',
  'message of another amount',
  'message of another mint',
  'message of another payer',
  'message without a payment',
  'message with one more payment',
  'other blockhash bytes',
  'closing instruction',
  'zero or less',
] as const

const units = fc.bigInt({ min: 1n, max: 10n ** 12n })
const row = fc.record({
  trick: fc.constantFrom(...tricks),
  mint: fc.constantFrom(...mints),
  otherMint: fc.constantFrom(...mints, foreign),
  moves: fc.uniqueArray(
    fc.record({ index: fc.nat(wallets.length - 1), amount: units, spare: units, beyond: units }),
    { minLength: 1, maxLength: 4, selector: ({ index }) => index },
  ),
  victim: fc.nat(3),
  byte: fc.nat(2000),
})
type Row = Parameters<typeof factsOf>[0]

const healthy = (amount: bigint): TokenSource => ({ amount, fault: undefined })

function factsOf({
  trick,
  mint,
  otherMint,
  moves,
  victim,
}: {
  readonly trick: (typeof tricks)[number]
  readonly mint: string
  readonly otherMint: string
  readonly moves: readonly { index: number; amount: bigint; spare: bigint; beyond: bigint }[]
  readonly victim: number
  readonly byte: number
}): MoveFacts[] {
  const facts = moves.map(({ index, amount, spare, beyond }): MoveFacts => {
    const userId = users[index] ?? ''
    const book: CustodyBook = { userId, mint, final: amount + spare, swept: 0n, takenOut: 0n, inFlight: 0n }
    return {
      userId,
      mint,
      amount,
      wallet: wallets[index],
      destination: treasury,
      limit: amount + spare,
      book,
      source: healthy(amount + spare + (mint === solMint ? 10n ** 9n : beyond)),
      target: healthy(0n),
    }
  })
  const at = victim % facts.length
  const change = (changed: (fact: MoveFacts) => Partial<MoveFacts>) =>
    facts.map((fact, index) => (index === at ? { ...fact, ...changed(fact) } : fact))
  switch (trick) {
    case 'foreign destination':
      return change(() => ({ destination: undefined }))
    case 'paid to a custody wallet':
      return change(() => ({ destination: wallets[0] }))
    case 'another mint':
      return change(() => ({ mint: otherMint, book: undefined, limit: 0n }))
    case 'more than the book':
      return change(({ limit }) => ({ amount: limit + 1n }))
    case 'more than the rule':
      return change(({ amount }) => ({ limit: amount - 1n }))
    case 'zero or less':
      return change(({ amount }) => ({ amount: -amount }))
    case 'the same creator twice':
      return [...facts, ...facts.slice(at, at + 1)]
    case 'closed account':
      return change(() => ({ source: { amount: 0n, fault: 'closed' } }))
    case 'frozen account':
      return change(({ source }) => ({ source: { amount: source?.amount ?? 0n, fault: 'frozen' } }))
    case 'wrong owner':
      return change(() => ({ source: { amount: 0n, fault: 'foreign' } }))
    case 'frozen destination':
      return change(() => ({ target: { amount: 0n, fault: 'frozen' } }))
    case 'short chain':
      return change(({ book }) => ({ source: healthy((book?.final ?? 1n) - 1n) }))
    default:
      return facts
  }
}

/** The message that lies beside the row. */
function messageOf({ trick, byte, otherMint }: Row, facts: readonly MoveFacts[]): Uint8Array {
  const payments = facts.map((fact) => paymentOf(fact))
  const build = (changes: Partial<MessagePlan>): Uint8Array =>
    buildMessage({ payer, blockhash, opensAccounts: byte % 2 === 0, payments, ...changes })
  const first = payments[0] as Payment
  switch (trick) {
    case 'foreign destination':
    case 'message to a foreign wallet':
      return build({ payments: payments.map((one) => ({ ...one, to: foreign })) })
    case 'altered amount':
      return build({ payments: [...payments.slice(1), { ...first, amount: first.amount + 1n }] })
    case 'message of another amount':
      return build({ payments: [{ ...first, amount: first.amount + 1n }, ...payments.slice(1)] })
    case 'message of another mint':
      return build({ payments: payments.map((one) => ({ ...one, mint: foreign })) })
    case 'custody pays the fee':
      return build({ payer: first.from })
    case 'message of another payer':
      return build({ payer: foreign })
    case 'message without a payment':
      return build({ payments: payments.slice(1) })
    case 'message with one more payment':
      return build({ payments: [...payments, { ...first, to: foreign, amount: 1n }] })
    case 'other blockhash bytes': {
      const bytes = Buffer.from(build({}))
      bytes[byte % bytes.length] = (bytes[byte % bytes.length] ?? 0) ^ (1 + (byte % 255))
      return bytes
    }
    case 'closing instruction': {
      const message = VersionedMessage.deserialize(build({}))
      const last = message.compiledInstructions.at(-1)
      if (last !== undefined) last.data = Uint8Array.from([9])
      return message.serialize()
    }
    case 'zero or less':
    case 'another mint':
      return Buffer.from(otherMint)
    default:
      return build({})
  }
}

/** Whether the trick leaves nothing to refuse. A changed byte may be one of the blockhash. */
const harmless = new Set<string>(['none', 'other blockhash bytes'])

test('of thousands of hostile rows none is signed that breaks the rule, and what is signed has only allowed instructions', (t) => {
  const signed = new Map<string, number>()
  const refused = new Map<string, number>()
  fc.assert(
    fc.property(row, (one) => {
      const facts = factsOf(one)
      const message = messageOf(one, facts)
      const fault = decideSigning({
        payer,
        message: readMessage(message),
        moves: facts,
        guards: new Set(),
        custodyWallets: custody,
        associatedAccount,
      })
      const tally = fault === undefined ? signed : refused
      tally.set(one.trick, (tally.get(one.trick) ?? 0) + 1)
      if (fault !== undefined) return
      if (!harmless.has(one.trick)) throw new Error(`signed: ${one.trick}`)
      assertAllowed(message, facts)
    }),
    seededRuns(t, 2000, 10_000),
  )
  t.log(Object.fromEntries(signed), Object.fromEntries(refused))
  t.true((signed.get('none') ?? 0) > 10)
  for (const trick of tricks.filter((name) => name !== 'none')) t.true((refused.get(trick) ?? 0) > 0, trick)
})

/** Reads the signed message with web3.js alone, without the code that decides. */
function assertAllowed(bytes: Uint8Array, facts: readonly MoveFacts[]): void {
  const message = VersionedMessage.deserialize(bytes)
  const keys = message.staticAccountKeys.map((key) => key.toBase58())
  if (message.addressTableLookups.length > 0 || keys[0] !== payer) throw new Error('payer or lookup table')
  if (message.header.numRequiredSignatures !== facts.length + 1) throw new Error('signers')
  const told = message.compiledInstructions
    .map(({ programIdIndex, accountKeyIndexes, data }) =>
      tell(
        keys[programIdIndex] ?? '',
        accountKeyIndexes.map((index) => keys[index] ?? ''),
        Buffer.from(data),
      ),
    )
    .filter((text) => text !== '')
  const expected = facts.map(({ wallet = '', mint, amount }) => `${wallet} ${mint} ${amount}`)
  if (told.sort().join() !== expected.sort().join()) throw new Error(`it does ${told.join()}`)
}

/** A payment to the treasury as text; empty for what moves nothing. */
function tell(program: string, accounts: readonly string[], data: Buffer): string {
  if (program.startsWith('ComputeBudget')) return ''
  if (program.startsWith('AToken'))
    return data.equals(Buffer.from([1])) && accounts[0] === payer && accounts[2] === treasury ? '' : 'opens'
  const [from = '', second = '', third = '', fourth = ''] = accounts
  if (data.length === 12 && data.readUInt32LE(0) === 2 && second === treasury)
    return `${from} ${solMint} ${data.readBigUInt64LE(4)}`
  const isPayment = data.length === 10 && data[0] === 12 && third === associatedAccount(treasury, second)
  return isPayment && from === associatedAccount(fourth, second)
    ? `${fourth} ${second} ${data.readBigUInt64LE(1)}`
    : 'another instruction'
}

test('a message is read in its canonical form only, and a key signs as any tool does', (t) => {
  const payments = [{ from: wallets[0] ?? '', to: treasury, mint: usdc.mint, decimals: 6, amount: 5n }]
  const message = buildMessage({ payer, blockhash, opensAccounts: false, payments })
  t.truthy(readMessage(message))
  t.is(readMessage(Buffer.concat([message, Buffer.alloc(1)])), undefined)
  t.is(readMessage(message.subarray(0, -1)), undefined)
  t.is(readMessage(Buffer.alloc(0)), undefined)
  const [pair] = pairs
  const signature = encodeBase58(signMessageBytes(pair?.secretKey ?? Buffer.alloc(64), Buffer.from('a text')))
  t.true(verifyTextSignature(treasury, 'a text', signature))
  t.is(decodeBase58(signature)?.length, 64)
})
