import test from 'ava'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import { errors } from '../../../src/kernel/errors.js'
import { badBodies } from '../../helpers/http/hostile-input.js'
import { registerCreator } from '../../helpers/make/creators.js'
import { type RecordedBody, readTipRow, recordTip, someClaim } from '../../helpers/make/tips.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test)
const path = '/chain/tips/create'

const texts = {
  fields: 'creatorWallet, tipAmount, senderWallet and txSignature are required',
  creator: 'Invalid creatorWallet',
  amount: 'Invalid tipAmount',
  sender: 'Invalid senderWallet',
  signature: 'Invalid txSignature',
}

async function refusal(body: unknown): Promise<string> {
  const answer = await world().request('POST', path, { body })
  return answer.status === 200 ? 'ok' : `${answer.status} ${answer.body.error}`
}

for (const [name, options] of Object.entries(badBodies))
  test(`a body that is ${name} is refused as missing fields`, async (t) => {
    const answer = await world().request('POST', path, options)
    t.is(`${answer.status} ${answer.body.error}`, `400 ${texts.fields}`)
    t.is(answer.body.code, 'tip_fields_required')
  })

const bytes = (count: number): string => encodeBase58(Buffer.alloc(count, 200))
const signature = bytes(64)
const wallet = bytes(32)
const changes: [field: string, values: unknown[], text: string][] = [
  ...['creatorWallet', 'tipAmount', 'senderWallet', 'txSignature'].map(
    (field): [string, unknown[], string] => [field, [undefined, null], texts.fields],
  ),
  ...['creatorWallet', 'senderWallet', 'txSignature'].map((field): [string, unknown[], string] => [
    field,
    [''],
    texts.fields,
  ]),
  [
    'creatorWallet',
    [5, true, {}, `${wallet} `, `${wallet}1`, '0'.repeat(44), signature, `${wallet}\0`],
    texts.creator,
  ],
  ['senderWallet', [5, true, {}, ` ${wallet}`, bytes(31), '1'.repeat(33), signature, '@ada'], texts.sender],
  [
    'txSignature',
    [5, true, {}, wallet, `${signature}1`, bytes(63), bytes(65), '1'.repeat(65), 'l'],
    texts.signature,
  ],
  ['txSignature', [`${signature}\n`, '1'.repeat(60_000), `I${signature.slice(1)}`], texts.signature],
  ['tipAmount', [0, -1, '5', '', true, {}, [5], 1.5, 2 ** 53, 1e300, 5e-324], texts.amount],
  ['message', [5, {}, ['x'], true], texts.fields],
  ['tokenSymbol', [5, {}, ['x'], true], texts.fields],
  ['intentId', [5, {}, ['x'], true], texts.fields],
]

for (const [field, values, text] of changes)
  test(`${text}: ${field} of ${values.map((value) => String(JSON.stringify(value)).slice(0, 20)).join(', ')}`, async (t) => {
    for (const value of values)
      t.is(await refusal(someClaim({ [field]: value })), `400 ${text}`, JSON.stringify(value))
  })

test('numbers beyond a safe integer are refused, and the largest safe integer is accepted', async (t) => {
  const written = (json: string) => JSON.stringify(someClaim({ tipAmount: '@' })).replace('"@"', json)
  for (const json of ['1e400', '-1e400', '9007199254740993', '1e16'])
    t.is(await refusal(written(json)), `400 ${texts.amount}`, json)
  t.is(await refusal(written('9007199254740991')), 'ok')
  t.is(await refusal(written('1e0')), 'ok')
})

test('of several wrong fields, the first in the order of the API decides the error', async (t) => {
  let body = someClaim({ creatorWallet: 'x', tipAmount: -1, senderWallet: 'x', txSignature: 'x' })
  t.is(await refusal({ ...body, txSignature: undefined }), `400 ${texts.fields}`)
  for (const [field, text] of [
    ['creatorWallet', texts.creator],
    ['tipAmount', texts.amount],
    ['senderWallet', texts.sender],
    ['txSignature', texts.signature],
  ] as const) {
    t.is(await refusal(body), `400 ${text}`)
    body = { ...body, [field]: someClaim()[field] }
  }
  t.is(await refusal(body), 'ok')
})

test('the answer to a new tip repeats the request, and to a known tip only its id and status', async (t) => {
  const claim = someClaim({ tipAmount: 2_500_000_000, tokenSymbol: 'SOL', message: 'Thanks' })
  const { txSignature: id } = claim
  t.deepEqual(await recordTip(world(), claim), {
    success: true,
    tip: { id, status: 'pending', amount: 2_500_000_000, tokenSymbol: 'SOL' },
    message: 'Tip recorded successfully',
  })
  const again = { success: true, tip: { id, status: 'pending' }, message: 'Tip already recorded' } as const
  t.deepEqual(await recordTip(world(), claim), again)
  t.deepEqual(await recordTip(world(), { ...claim, message: 'Differing' }), again)
})

test('recipientId is answered only for the wallet of an account', async (t) => {
  const { user, wallet: own } = await registerCreator(world())
  t.is((await recordTip(world(), someClaim({ creatorWallet: own }))).tip.recipientId, user.id)
  t.false('recipientId' in (await recordTip(world(), someClaim())).tip)
})

for (const [tipAmount, tokenSymbol, amount, symbol] of [
  [1, undefined, '0.000000001', 'SOL'],
  [1_500_000_000, 'sol', '1.5', 'SOL'],
  [Number.MAX_SAFE_INTEGER, 'SOL', '9007199.254740991', 'SOL'],
  [10, '', '0.00000001', 'SOL'],
  [5_000_000, 'usdc', '5000000', 'USDC'],
  [5.25, 'USDC', '5.25', 'USDC'],
  [1e-7, 'BONK', '0.0000001', 'BONK'],
  [7, 'DOGE', '7', 'DOGE'],
  [7, ` ${'x'.repeat(30)}`, '7', 'x'.repeat(20)],
] as const)
  test(`${tipAmount} of ${JSON.stringify(tokenSymbol)} is stored as ${amount} ${symbol}`, async (t) => {
    const claim = someClaim({ tipAmount, tokenSymbol })
    const { tip } = await recordTip(world(), claim)
    t.like(tip, { amount: tipAmount, tokenSymbol: symbol })
    const stored = await readTipRow(world(), claim.txSignature)
    t.like(stored, { amount, token_symbol: symbol, status: 'pending', kind: 'chain' })
  })

const long = '🎉'.repeat(400)
for (const [name, message, stored] of [
  ['absent', undefined, null],
  ['empty', '', null],
  ['blank', ' \n\t ', null],
  ['control characters', 'a\u0000b\u001b[31mc\u007f', 'ab[31mc'],
  ['lines and tabs', ' a\r\nb\tc ', 'a b c'],
  ['turned text', '\u202eevil\u2066', 'evil'],
  ['markup', '<script>alert("x")</script>', '<script>alert("x")</script>'],
  ['an accent in two parts', 'e\u0301', '\u00e9'],
  ['500 characters', 'x'.repeat(500), 'x'.repeat(500)],
  ['501 characters', 'x'.repeat(501), 'x'.repeat(500)],
  ['400 emoji, which are 800 units', long, long],
  ['SQL', "'); drop table tips; --", "'); drop table tips; --"],
] as const)
  test(`a message with ${name} is stored clean`, async (t) => {
    const claim = someClaim({ message })
    await recordTip(world(), claim)
    t.is((await readTipRow(world(), claim.txSignature)).message, stored)
  })

test('text that the database cannot store does not fail the request', async (t) => {
  for (const text of ['\u0000', 'pi_\u0000', `pi_${'x'.repeat(70)}`]) {
    const claim = someClaim({ message: text, tokenSymbol: text, intentId: text })
    const { status, body } = await world().request<RecordedBody & { error?: string }>('POST', path, {
      body: claim,
    })
    t.is(status, 200, `${JSON.stringify(text)} ${body.error}`)
  }
})

test('the intent id of a claim is stored, and an impossible one is not', async (t) => {
  const kept = async (intentId: unknown) => {
    const claim = someClaim({ intentId })
    await recordTip(world(), claim)
    return (await readTipRow(world(), claim.txSignature)).claimed_intent_id
  }
  const id = 'pi_0d9f6e52-5c0e-4a1c-9d8e-2b6a6f1f4f11'
  t.is(await kept(id), id)
  for (const other of ['', 'x', 'pi_', `${id} `, `${id}${id}`]) t.is(await kept(other), null, other)
})

test('unknown fields are ignored, and the error texts match the table', async (t) => {
  t.is(await refusal(someClaim({ status: 'confirmed', recipient_party: 1, more: { a: [1] } })), 'ok')
  t.is(texts.fields, errors.tip_fields_required[1])
})
