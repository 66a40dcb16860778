import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Keypair, SystemProgram, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import test from 'ava'
import fc from 'fast-check'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { provesNotSent, sendFault } from '../../src/pages/checkout/flow/pay.js'
import { chainPauseMs, isStillPolled, nairaPauseMs } from '../../src/pages/checkout/machine/pauses.js'
import {
  isUnclear,
  namedCurrency,
  numberFault,
  numberText,
  typedCents,
  typedNumber,
} from '../../src/pages/lib/amount-text.js'
import { displayUnits, ngn, shortUsd, tokenAmount, usd } from '../../src/pages/lib/money.js'
import { firstSignature, fromBase64, isSignedBy, toBase58, toBase64 } from '../../src/pages/lib/solana.js'
import { walletFault } from '../../src/pages/lib/wallet-faults.js'
import { seededRuns } from '../helpers/random.js'

test('base58 and base64 equal the standard encodings', (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      t.is(toBase58(bytes), encodeBase58(bytes))
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

for (const [raw, decimals, symbol, shown] of [
  ['33333333', 9, 'SOL', '0.033333 SOL'],
  ['500000000', 9, 'SOL', '0.50 SOL'],
  ['1000000000', 9, 'SOL', '1 SOL'],
  ['4900000', 6, 'USDC', '4.90 USDC'],
  ['5000000', 6, 'USDC', '5.00 USDC'],
  ['25000000000', 5, 'BONK', '250,000 BONK'],
  ['1', 9, 'SOL', '0.000000001 SOL'],
  ['0', 6, 'USDC', '0.00 USDC'],
  ['123456789012345678', 9, 'SOL', '123,456,789.01 SOL'],
] as const)
  test(`${raw} of ${decimals} decimals reads ${shown}`, (t) => {
    t.is(tokenAmount(raw, decimals, symbol), shown)
  })

test('amounts are exact where they are sent and readable where they are shown', (t) => {
  t.is(displayUnits('33400000', 9), '0.0334')
  t.is(displayUnits('18446744073709551615', 6), '18446744073709.551615')
  t.is(usd(5), '$5.00')
  t.is(shortUsd(5), '$5')
  t.is(shortUsd(0.01), '$0.01')
  t.is(ngn(7600), '₦7,600.00')
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

test('a field without naira says so when naira are typed', (t) => {
  for (const text of ['₦500', 'N500', '500 naira', '₦1,000']) t.is(numberFault(text), 'no_naira', text)
  for (const text of ['', '2', '$2', '0.50']) t.is(numberFault(text), undefined, text)
  t.is(numberFault('1,000'), 'unclear_number')
  t.is(numberFault('many'), 'invalid_number')
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

test('payments are polled quickly at first, and late ones for half an hour', (t) => {
  t.deepEqual([0, 1, 2, 3, 4, 5, 50].map(chainPauseMs), [1000, 1000, 2000, 3000, 5000, 5000, 5000])
  t.is(nairaPauseMs(299_999), 5000)
  t.is(nairaPauseMs(300_000), 10_000)
  t.true(isStillPolled(29 * 60_000))
  t.false(isStillPolled(30 * 60_000))
})

test('no text of the checkout says that a payment failed', (t) => {
  const words = readFileSync('src/pages/i18n/checkout.ts', 'utf8').split('\n').slice(1)
  t.deepEqual(
    words.filter((line) => /(: |`|')[^:]*\bfailed\b/i.test(line)),
    [],
  )
})
