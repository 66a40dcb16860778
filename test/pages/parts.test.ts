import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import test from 'ava'
import fc from 'fast-check'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { provesNotSent, sendFault } from '../../src/pages/checkout/flow/pay.js'
import {
  isUnclear,
  namedCurrency,
  numberText,
  typedCents,
  typedNumber,
} from '../../src/pages/lib/amount-text.js'
import { firstSignature, fromBase64, isSignedBy, toBase64 } from '../../src/pages/lib/solana.js'
import { walletFault } from '../../src/pages/lib/wallet-faults.js'
import { seededRuns } from '../helpers/random.js'

test('base64 equals the standard encoding', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      t.is(toBase64(bytes), Buffer.from(bytes).toString('base64'))
      t.deepEqual([...fromBase64(toBase64(bytes))], [...bytes])
    }),
  )
})

test('the first signature of a transaction and its signer are found', (t) => {
  const payer = Keypair.generate()
  const instruction = SystemProgram.transfer({
    fromPubkey: payer.publicKey,
    toPubkey: Keypair.generate().publicKey,
    lamports: 1,
  })
  const recentBlockhash = encodeBase58(randomBytes(32))
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash,
    instructions: [instruction],
  })
  for (const compiled of [message.compileToV0Message(), message.compileToLegacyMessage()]) {
    const transaction = new VersionedTransaction(compiled)
    t.throws(() => firstSignature(transaction.serialize()))
    t.false(isSignedBy(transaction.serialize(), payer.publicKey.toBytes()))
    transaction.sign([payer])
    t.deepEqual([...firstSignature(transaction.serialize())], [...(transaction.signatures[0] ?? [])])
    t.true(isSignedBy(transaction.serialize(), payer.publicKey.toBytes()))
    t.false(isSignedBy(transaction.serialize(), Keypair.generate().publicKey.toBytes()))
  }
  for (const bytes of [new Uint8Array(), Uint8Array.of(1), Uint8Array.of(0, 1, 2), randomBytes(40)])
    t.false(isSignedBy(bytes, payer.publicKey.toBytes()))
  const { privateKey } = generateKeyPairSync('ed25519')
  t.is(sign(null, randomBytes(8), privateKey).length, 64)
})

for (const [text, number] of [
  ['20', 20],
  ['5.', 5],
  ['0', 0],
  ['1,5', 1.5],
  ['1,50', 1.5],
  ['1.5', 1.5],
  [' $7,5 ', 7.5],
  ['US$ 20', 20],
  ['20 USD', 20],
  ['7 600,50', 7600.5],
  ['0,125', 0.125],
  ['0.125', 0.125],
  ['10.000001', 10.000001],
  ['1234.567', 1234.567],
  ['$ 1,200.50', 1200.5],
  ['1.000,50', 1000.5],
  ['1,000,000.50', 1_000_000.5],
  ['1.000.000,50', 1_000_000.5],
  ['1,000,000', 1_000_000],
  ['1.000.000', 1_000_000],
  ['1,000', 'unclear'],
  ['1.000', 'unclear'],
  ['₦250,000', undefined],
  ['₦7 600', undefined],
  ['N5000', undefined],
  ['5000 NGN', undefined],
  ['$5 NGN', undefined],
  ['1 5', undefined],
  ['1,5,0', undefined],
  ['1,00,000', undefined],
  ['1,000,50', undefined],
  ['10,000.000.000', undefined],
  ['1234,567', undefined],
  ['1,2345', undefined],
  ['-5', undefined],
  ['1e9', undefined],
  ['5 dollars', 5],
  ['5000 naira', undefined],
  ['', undefined],
] as const)
  test(`the typed text "${text}" is read as ${number}`, (t) => {
    const expected = number === 'unclear' ? undefined : number
    t.is(typedNumber(text), expected)
    t.is(isUnclear(text), number === 'unclear')
    const cents = expected === undefined ? undefined : Math.round(expected * 1e6) / 1e4
    t.is(typedCents(text), cents !== undefined && Number.isInteger(cents) ? cents : undefined)
  })

for (const [text, naira] of [
  ['₦5000', 5000],
  ['₦5,000', 5000],
  ['N5,000.50', 5000.5],
  ['ngn 5 000', 5000],
  ['5,000', 5000],
  ['₦5000 naira', 5000],
  ['5.000', 'unclear'],
  ['$5000', undefined],
  ['₦', undefined],
] as const)
  test(`a sign means its currency: "${text}" in naira is read as ${naira}`, (t) => {
    const expected = naira === 'unclear' ? undefined : naira
    t.is(typedNumber(text, 'NGN'), expected)
    t.is(isUnclear(text, 'NGN'), naira === 'unclear')
    t.is(typedCents(text, 'NGN'), expected === undefined ? undefined : expected * 100)
    t.is(namedCurrency(text), text.startsWith('$') ? 'USD' : /^[5]/.test(text) ? undefined : 'NGN')
  })

test('a typed number has the value of one of the two conventions, and a filled-in number is read back unchanged', (t) => {
  const digits = fc.stringMatching(/^\d{1,4}$/)
  const marks = fc.constantFrom(',', '.', ' ')
  fc.assert(
    fc.property(fc.array(digits, { minLength: 1, maxLength: 4 }), marks, marks, (groups, mark, last) => {
      const text = groups.reduce(
        (all, group, at) => `${all}${at === groups.length - 1 ? last : mark}${group}`,
      )
      const read = typedNumber(text)
      const [english, continental] = [
        Number(text.replaceAll(/[, ]/g, '')),
        Number(text.replaceAll(/[. ]/g, '').replaceAll(',', '.')),
      ]
      if (read !== undefined) t.true(read === english || read === continental, `${text}: ${read}`)
      if (/^\d+[,.]\d{1,2}$/.test(text)) t.is(read, Number(text.replace(',', '.')), text)
    }),
    seededRuns(t),
  )
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 ** 12 }), (micros) => {
      t.is(typedNumber(numberText(micros / 1e6)), micros / 1e6)
    }),
    seededRuns(t),
  )
})

for (const [thrown, fault] of [
  [{ code: 4001, message: 'x' }, 'rejected'],
  [{ message: 'User rejected the request.' }, 'rejected'],
  [{ code: -32002 }, 'busy'],
  [{ code: 4100 }, 'disconnected'],
  [{ code: 4900 }, 'network'],
  [{ message: 'insufficient lamports 1, need 2' }, 'insufficient'],
  [{ code: -32603, message: 'Internal' }, 'failed'],
  [{}, 'failed'],
] as const)
  test(`a wallet that throws ${JSON.stringify(thrown)} means ${fault}`, (t) => {
    t.is(walletFault(thrown), fault)
  })

test('only a clear refusal of a wallet that signs and sends proves that nothing was sent', (t) => {
  t.true(provesNotSent('rejected'))
  t.false(provesNotSent('failed'))
  t.false(provesNotSent('network'))
})

for (const [error, fault] of [
  [
    {
      code: -32002,
      message: 'Transaction simulation failed: Blockhash not found',
      data: { err: 'BlockhashNotFound' },
    },
    'expired',
  ],
  [{ code: -32002, message: 'x', data: { err: { InstructionError: [2, { Custom: 1 }] } } }, 'insufficient'],
  [
    { code: -32002, message: 'x', data: { err: { InsufficientFundsForRent: { account_index: 0 } } } },
    'insufficient',
  ],
  [{ code: -32002, message: 'Attempt to debit an account but found no record of a prior credit.' }, 'failed'],
] as const)
  test(`an endpoint that answers ${JSON.stringify(error)} means ${fault}`, (t) => {
    t.is(sendFault(error), fault)
  })
