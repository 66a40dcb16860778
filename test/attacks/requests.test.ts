import { ASSOCIATED_TOKEN_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { ComputeBudgetProgram, Keypair, SystemProgram, VersionedTransaction } from '@solana/web3.js'
import test from 'ava'
import { decodeBase58, encodeBase58 } from '../../src/kernel/base58.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import { unusedSignature, unusedWallet } from '../helpers/make/supporter.js'
import { someClaim } from '../helpers/make/tips.js'
import { as } from '../helpers/servers/roles.js'
import { useWorld } from '../helpers/servers/world.js'
import { createRandomSource, runAttack, variants } from './run-attack.js'
import { shareAttackSetup, sol, someUnits, transfer, usdc } from './setup.js'

const world = useWorld(test, { chain: true })
const sharedSetup = shareAttackSetup(world)

/** Raw JSON texts that JavaScript values cannot express. */
const badAmounts = [
  '0',
  '-0',
  '-1',
  '-1e308',
  '1.5',
  '0.1',
  '1e400',
  '-1e400',
  '1e21',
  '9007199254740992',
  '18446744073709551615',
  'null',
  '"5"',
  '""',
  '"1e6"',
  'true',
  'false',
  '[5]',
  '{}',
  '[]',
  '5e-324',
  '1e-9',
  '"NaN"',
  '"Infinity"',
]

/** Amounts with one fault: a sign, a fraction, their size, quotes, a list. */
const spoilt: ((digits: string) => string)[] = [
  (digits) => `-${digits}`,
  (digits) => `${digits}.5`,
  (digits) => `9007199254${digits.padStart(6, '0')}`,
  (digits) => `"${digits}"`,
  (digits) => `[${digits}]`,
]

test('A8: invalid amounts are refused in every notation', async (t) => {
  const random = createRandomSource(t)
  const seeded = Array.from({ length: variants }, (_, variant) =>
    (spoilt[variant % spoilt.length] as (typeof spoilt)[number])(String(740_993 + random.below(250_000))),
  )
  for (const amount of [...badAmounts, ...seeded]) {
    const { tipAmount: _, ...rest } = someClaim()
    const body = `${JSON.stringify(rest).slice(0, -1)},"tipAmount":${amount}}`
    const answer = await fetch(`${world().url}/chain/tips/create`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    t.is(answer.status, 400, amount)
    t.is((await world().db('tips').where({ id: rest.txSignature })).length, 0, amount)
  }
})

test('A29: signatures and wallets that are not canonical base58 are refused', async (t) => {
  const random = createRandomSource(t)
  const tricks: ((text: string) => string)[] = [
    (text) => ` ${text}`,
    (text) => `${text}\n`,
    (text) => `${text} `,
    (text) => `1${text}`,
    (text) => text.slice(0, -2),
    (text) => `${text.slice(0, -1)}0`,
    (text) => `${text.slice(0, -1)}O`,
    (text) => `${text.slice(0, -1)}l`,
    (text) => `${text.slice(0, -1)}I`,
    (text) => `${text}\u200b`,
    (text) => encodeBase58((decodeBase58(text) ?? new Uint8Array()).subarray(1)),
    (text) => encodeBase58(Buffer.concat([decodeBase58(text) ?? new Uint8Array(), Buffer.from([7])])),
    () => '1'.repeat(88),
    (text) => text.repeat(2),
    () => '',
  ]
  let refused = 0
  for (let variant = 0; variant < 3 * variants; variant++) {
    const [field, value] = random.pick([
      ['txSignature', unusedSignature()],
      ['creatorWallet', unusedWallet()],
      ['senderWallet', unusedWallet()],
    ] as const)
    const bent = (tricks[variant % tricks.length] as (typeof tricks)[number])(value)
    const { status } = await world().request('POST', '/chain/tips/create', {
      body: someClaim({ [field]: bent }),
    })
    t.is(status, 400, `${field} ${JSON.stringify(bent)}`)
    refused += 1
  }
  t.true(refused >= variants)
})

test.serial('A29: the second signature of a transaction is not its id', async (t) => {
  const setup = await sharedSetup()
  await runAttack(t, setup, () => {
    const { supporter, attacker, creators } = setup
    const { wallet } = creators[0]
    const parts = [
      ...transfer(sol, supporter.wallet, wallet, someUnits()),
      ...transfer(sol, attacker.wallet, supporter.wallet, 1),
    ]
    const first = supporter.send(parts, { signers: [attacker.keypair] })
    const raw = Buffer.from(world().sandbox.chain.ledger.get(first)?.raw ?? '', 'base64')
    const second = encodeBase58(VersionedTransaction.deserialize(raw).signatures[1] ?? new Uint8Array())
    return {
      signature: second,
      claims: [{ creatorWallet: wallet, senderWallet: supporter.wallet }],
      waits: true,
    }
  })
  await createVerifierBatch(as('verifier', world().services))()
})

const allowed = [
  ComputeBudgetProgram.programId,
  SystemProgram.programId,
  TOKEN_PROGRAM_ID,
  ASSOCIATED_TOKEN_PROGRAM_ID,
].map((program) => program.toBase58())
const priorityLamportsMost = 10_000n

test.serial('A35: no request makes the service build a transaction that does more than tip', async (t) => {
  const { creators, supporter, treasury } = await sharedSetup()
  const random = createRandomSource(t)
  let built = 0
  for (let variant = 0; variant < 3 * variants; variant++) {
    const token = random.pick([sol, usdc])
    const source = random.pick([supporter.wallet, unusedWallet(), creators[1].wallet])
    const creator = random.pick(creators)
    const body = {
      creatorId: random.pick([creator.wallet, creator.user.id, unusedWallet()]),
      inputTokenMint: token.mint,
      sourceWalletAddress: source,
      amount: random.pick([1, 0.5, someUnits() / 1e6]),
      tokenSymbol: random.pick(['SOL', "'; drop table tips; --", '\u202eCDSU']),
      recipient: Keypair.generate().publicKey.toBase58(),
      feeAccount: source,
      instructions: [{ programId: SystemProgram.programId.toBase58(), keys: [], data: 'AAAA' }],
      computeUnitPriceMicroLamports: 10 ** 12,
      transaction: 'AAAA',
    }
    const answer = await world().request<{ transaction: string; quote: { outAmount: string } }>(
      'POST',
      '/payments/intent',
      { body },
    )
    if (answer.status !== 200) continue
    built += 1
    const { message } = VersionedTransaction.deserialize(Buffer.from(answer.body.transaction, 'base64'))
    t.is(message.header.numRequiredSignatures, 1)
    t.is(message.staticAccountKeys[0]?.toBase58(), source)
    t.is(message.addressTableLookups.length, 0)
    const keys = message.staticAccountKeys.map((one) => one.toBase58())
    const calls = message.compiledInstructions.map(({ programIdIndex, data, accountKeyIndexes }) => ({
      program: keys[programIdIndex] ?? '',
      data: Buffer.from(data),
      accounts: accountKeyIndexes.map((index) => keys[index] ?? ''),
    }))
    t.true(calls.every(({ program }) => allowed.includes(program)))
    const budget = calls.filter(({ program }) => program.startsWith('ComputeBudget'))
    const units = budget.find(({ data }) => data[0] === 2)?.data.readUInt32LE(1) ?? 0
    const price = budget.find(({ data }) => data[0] === 3)?.data.readBigUInt64LE(1) ?? 0n
    t.true((BigInt(units) * price) / 1_000_000n <= priorityLamportsMost)
    const transfers = calls.flatMap(({ program, data, accounts }) => {
      if (program === '11111111111111111111111111111111')
        return [{ units: data.readBigUInt64LE(4), to: accounts[1] ?? '' }]
      return program.startsWith('Tokenkeg') ? [{ units: data.readBigUInt64LE(1), to: accounts[2] ?? '' }] : []
    })
    t.true(transfers.length <= 2)
    const net = transfers.at(-1)
    const fee = transfers.length === 2 ? transfers[0] : undefined
    t.is(String(net?.units), answer.body.quote.outAmount)
    if (fee === undefined) continue
    t.true(fee.units * 50n <= (net?.units ?? 0n) + fee.units, 'a fee above 2 %')
    const place = token === sol ? treasury : world().services.chain.associatedAccount(treasury, token.mint)
    t.is(fee.to, place)
  }
  t.log(`${built} transactions built`)
  t.true(built >= variants)
})
