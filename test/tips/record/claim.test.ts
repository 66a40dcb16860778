import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { parseInput } from '../../../src/http/input.js'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import { DomainError } from '../../../src/kernel/errors.js'
import { newIntentId } from '../../../src/kernel/ids.js'
import { cleanMessage } from '../../../src/kernel/text.js'
import { claimFromRequest, type SignedClaim } from '../../../src/tips/record/claim.js'
import { recordTipInput } from '../../../src/tips/schemas.js'
import { seededRuns } from '../../helpers/random.js'
import { wallet } from '../verify/transactions.js'

const body = {
  creatorWallet: wallet('creator'),
  senderWallet: wallet('supporter'),
  txSignature: encodeBase58(new Uint8Array(64).fill(7)),
  tipAmount: 1_500_000_000,
}

/** The claim of a request: parses the JSON text and the schema. */
function claimOf(change: object, text = JSON.stringify({ ...body, ...change })): SignedClaim {
  const input = parseInput(recordTipInput, JSON.parse(text), 'tip_fields_required')
  return claimFromRequest(input, cleanMessage(input.message).message)
}

function codeOf(t: ExecutionContext, work: () => unknown): string | undefined {
  return t.throws(work, { instanceOf: DomainError })?.code
}

test('SOL is stored divided by 1e9, other tokens as given', (t) => {
  const table: [symbol: string | undefined, tipAmount: number, stored: string][] = [
    [undefined, 1_500_000_000, '1.5'],
    ['SOL', 1, '0.000000001'],
    ['SOL', 1_000_000_000, '1'],
    ['SOL', Number.MAX_SAFE_INTEGER, '9007199.254740991'],
    ['USDC', 5_000_000, '5000000'],
    ['USDC', 5, '5'],
    ['USDC', Number.MAX_SAFE_INTEGER, '9007199254740991'],
    ['BONK', 100_000, '100000'],
    ['WIF', 12, '12'],
  ]
  for (const [tokenSymbol, tipAmount, stored] of table)
    t.is(claimOf({ tipAmount, tokenSymbol }).amount, stored, `${tipAmount} ${tokenSymbol}`)
})

test('a decimal amount of a token other than SOL is stored in display units, as written', (t) => {
  const table: [tipAmount: number, stored: string][] = [
    [19.99, '19.99'],
    [0.1 + 0.2, '0.3'],
    [1e-7, '0.0000001'],
    [1e-12, '0.000000000001'],
    [1234567.891, '1234567.891'],
    [4503599627370495.5, '4503599627370495.5'],
  ]
  for (const [tipAmount, stored] of table) t.is(claimOf({ tipAmount, tokenSymbol: 'USDC' }).amount, stored)
})

test('an amount that is not a positive safe number of units is refused', (t) => {
  const sol = [
    '0',
    '-0',
    '-1',
    '0.5',
    '1.5',
    '1e-9',
    '1e21',
    '1e400',
    '-1e400',
    '9007199254740992',
    '9007199254740993',
  ]
  const token = ['0', '-0', '-1.5', '1e-13', '5e-324', '1e16', '1e21', '1e308', '1e400', '9007199254740992']
  const anything = ['"5"', '""', '[5]', '{}', 'true', 'false']
  const request = (tipAmount: string, symbol: string) => () =>
    claimOf(
      {},
      JSON.stringify({ ...body, tipAmount: 'HERE', tokenSymbol: symbol }).replace('"HERE"', tipAmount),
    )
  for (const amount of [...sol, ...anything])
    t.is(codeOf(t, request(amount, 'SOL')), 'invalid_tip_amount', amount)
  for (const amount of [...token, ...anything])
    t.is(codeOf(t, request(amount, 'USDC')), 'invalid_tip_amount', amount)
  t.is(codeOf(t, request('null', 'SOL')), 'tip_fields_required')
  t.is(request('9007199254740991', 'USDC')().amount, '9007199254740991')
})

test('every accepted amount is stored to twelve decimals', (t) => {
  const amounts = fc.oneof(
    fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }),
    fc.double({ min: 1e-6, max: 1e6, noNaN: true }),
  )
  fc.assert(
    fc.property(amounts, (tipAmount) => {
      const { amount } = claimOf({ tipAmount, tokenSymbol: 'USDC' })
      t.regex(amount, /^(0|[1-9]\d*)(\.\d{0,11}[1-9])?$/, 'decimal text a database takes')
      t.true(Math.abs(Number(amount) - tipAmount) <= 5.01e-13 + tipAmount * Number.EPSILON)
      if (Number.isInteger(tipAmount)) t.is(amount, String(tipAmount))
    }),
    seededRuns(t),
  )
})

test('the symbol defaults to SOL, and a known symbol is stored in its listed spelling', (t) => {
  const table: [given: unknown, stored: string][] = [
    [undefined, 'SOL'],
    [null, 'SOL'],
    ['', 'SOL'],
    ['  \u202e\n', 'SOL'],
    ['sol', 'SOL'],
    ['usdc', 'USDC'],
    [' Usdt ', 'USDT'],
    ['US\u200eDC', 'USDC'],
    ['jitosol', 'JitoSOL'],
    ['WIF', 'WIF'],
    ['wif', 'wif'],
    ['x'.repeat(30), 'x'.repeat(20)],
    ['USDС', 'USDС'],
  ]
  for (const [tokenSymbol, stored] of table)
    t.is(claimOf({ tipAmount: 5, tokenSymbol }).tokenSymbol, stored, JSON.stringify(tokenSymbol))
})

test('a message is cleaned and cut at 500 characters, and an empty one is null', (t) => {
  t.is(claimOf({}).message, null)
  for (const nothing of [null, '', '  \n', '\0\u202e']) t.is(claimOf({ message: nothing }).message, null)
  t.is(claimOf({ message: ' thank\0 you\n👍 \u202e' }).message, 'thank you 👍')
  t.is(claimOf({ message: 'x'.repeat(501) }).message, 'x'.repeat(500))
  t.is(claimOf({ message: `${'x'.repeat(499)}👍` }).message, `${'x'.repeat(499)}👍`)
  t.is(claimOf({ message: `${'x'.repeat(500)}👍` }).message, 'x'.repeat(500))
  t.is(claimOf({ message: '<script>alert(1)</script>' }).message, '<script>alert(1)</script>', 'stored raw')
})

test('an intent id is stored, and any other text is stored as null', (t) => {
  const intentId = newIntentId()
  t.is(claimOf({ intentId }).intentId, intentId)
  // PostgreSQL refuses a zero byte, which would fail the whole batch of claims.
  for (const wrong of [null, '', 'pi_', `${intentId}\0`, '\0', `pi_${'x'.repeat(36)}`, 'x'.repeat(60_000)])
    t.is(claimOf({ intentId: wrong }).intentId, null, JSON.stringify(wrong)?.slice(0, 60))
})

test('no field of a claim contains text that the database cannot store', (t) => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom('\0', '\ud800', 'a', '😀'), fc.string({ unit: 'binary', maxLength: 1 })),
  })
  fc.assert(
    fc.property(text, text, text, (message, tokenSymbol, intentId) => {
      const claim = claimOf({ tipAmount: 5, message, tokenSymbol, intentId })
      for (const value of [claim.message, claim.tokenSymbol, claim.intentId]) {
        t.false(value?.includes('\0') ?? false)
        t.is(Buffer.from(value ?? '').toString(), value ?? '')
      }
    }),
    seededRuns(t),
  )
})

test('equal claims have the same hash, however they are written', (t) => {
  const { hash } = claimOf({ message: 'hi', tokenSymbol: 'USDC', tipAmount: 2.5 })
  const same = [
    { message: ' hi\0 ', tokenSymbol: 'usdc', tipAmount: 2.5 },
    { tipAmount: 2.5, tokenSymbol: ' USDC', message: 'hi', intentId: null, extra: 'ignored' },
    {
      message: 'hi',
      tokenSymbol: 'USDC',
      tipAmount: 2.5,
      txSignature: encodeBase58(new Uint8Array(64).fill(8)),
    },
  ]
  for (const change of same) t.deepEqual(claimOf(change).hash, hash, JSON.stringify(change))
  t.is(hash.length, 32)
})

test('claims that differ in any field have different hashes', (t) => {
  const changes = [
    {},
    { creatorWallet: wallet('another') },
    { senderWallet: wallet('another') },
    { tipAmount: 1_500_000_001 },
    { tokenSymbol: 'USDC' },
    { message: 'SOL' },
    { message: 'null' },
    { message: 'hi' },
    { intentId: newIntentId() },
    { creatorWallet: body.senderWallet, senderWallet: body.creatorWallet },
    { message: '","', tokenSymbol: 'USDC' },
    { tokenSymbol: 'USDC","' },
  ]
  const hashes = changes.map((change) => claimOf(change).hash.toString('hex'))
  t.is(new Set(hashes).size, changes.length)
})

test('the first wrong field in the order of the API is refused', (t) => {
  const table: [change: object, code: string][] = [
    [{ creatorWallet: undefined, tipAmount: -1 }, 'tip_fields_required'],
    [{ creatorWallet: 'x', txSignature: '' }, 'tip_fields_required'],
    [{ creatorWallet: 'x', tipAmount: 'y', senderWallet: 'z', txSignature: 'w' }, 'invalid_creator_wallet'],
    [{ tipAmount: 'y', senderWallet: 'z', txSignature: 'w' }, 'invalid_tip_amount'],
    [{ senderWallet: 'z', txSignature: 'w' }, 'invalid_sender_wallet'],
    [{ txSignature: 'w' }, 'invalid_tx_signature'],
    [{ txSignature: ` ${body.txSignature}` }, 'invalid_tx_signature'],
    [{ creatorWallet: `${body.creatorWallet} ` }, 'invalid_creator_wallet'],
    [{ senderWallet: 5 }, 'invalid_sender_wallet'],
  ]
  for (const [change, code] of table)
    t.is(
      codeOf(t, () => claimOf(change)),
      code,
      JSON.stringify(change),
    )
})
