import { ASSOCIATED_TOKEN_PROGRAM_ID, TOKEN_PROGRAM_ID } from '@solana/spl-token'
import { ComputeBudgetProgram, Keypair, SystemProgram, VersionedTransaction } from '@solana/web3.js'
import test from 'ava'
import { decodeBase58, encodeBase58 } from '../../src/kernel/base58.js'
import { createVerifierBatch } from '../../src/tips/verify/verify-tips.js'
import { strangerWallet, unknownSignature } from '../helpers/make/supporter.js'
import { someClaim } from '../helpers/make/tips.js'
import { useWorld } from '../helpers/servers/world.js'
import { playAll, variants } from './corpus.js'
import { diceFor } from './dice.js'
import { openScene, type Scene, sol, someUnits, transfer, usdc } from './scene.js'

const world = useWorld(test, { chain: true, slotMs: 100 })
let opened: Promise<Scene> | undefined
const scene = (): Promise<Scene> => {
  opened ??= openScene(world())
  return opened
}

/** Raw JSON texts, for what JSON can say and JavaScript cannot. */
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

/** Numbers that were amounts but for one thing: a sign, a fraction, their size, quotes, a list. */
const spoilt: ((digits: string) => string)[] = [
  (digits) => `-${digits}`,
  (digits) => `${digits}.5`,
  (digits) => `9007199254${digits.padStart(6, '0')}`,
  (digits) => `"${digits}"`,
  (digits) => `[${digits}]`,
]

test('A8: amounts that are none are refused, each way of writing them', async (t) => {
  const dice = diceFor(t)
  const seeded = Array.from({ length: variants }, (_, variant) =>
    (spoilt[variant % spoilt.length] as (typeof spoilt)[number])(String(740_993 + dice.roll(250_000))),
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
  const dice = diceFor(t)
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
    const [field, value] = dice.pick([
      ['txSignature', unknownSignature()],
      ['creatorWallet', strangerWallet()],
      ['senderWallet', strangerWallet()],
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

test.serial('A29: the second signature of a transaction names none', async (t) => {
  const one = await scene()
  await playAll(t, one, () => {
    const { supporter, attacker, creators } = one
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
  await createVerifierBatch(world().services)()
})

const allowed = [
  ComputeBudgetProgram.programId,
  SystemProgram.programId,
  TOKEN_PROGRAM_ID,
  ASSOCIATED_TOKEN_PROGRAM_ID,
].map((program) => program.toBase58())
const priorityLamportsMost = 10_000n

test.serial(
  'A35: no request makes the service issue a transaction that does anything but the tip',
  async (t) => {
    t.timeout(60_000)
    const { creators, supporter, treasury } = await scene()
    const dice = diceFor(t)
    let issued = 0
    for (let variant = 0; variant < 3 * variants; variant++) {
      const token = dice.pick([sol, usdc])
      const source = dice.pick([supporter.wallet, strangerWallet(), creators[1].wallet])
      const creator = dice.pick(creators)
      const body = {
        creatorId: dice.pick([creator.wallet, creator.user.id, strangerWallet()]),
        inputTokenMint: token.mint,
        sourceWalletAddress: source,
        amount: dice.pick([1, 0.5, someUnits() / 1e6]),
        tokenSymbol: dice.pick(['SOL', "'; drop table tips; --", '\u202eCDSU']),
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
      issued += 1
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
      const moves = calls.flatMap(({ program, data, accounts }) => {
        if (program === '11111111111111111111111111111111')
          return [{ units: data.readBigUInt64LE(4), to: accounts[1] ?? '' }]
        return program.startsWith('Tokenkeg')
          ? [{ units: data.readBigUInt64LE(1), to: accounts[2] ?? '' }]
          : []
      })
      t.true(moves.length <= 2)
      const [net, fee] = moves
      t.is(String(net?.units), answer.body.quote.outAmount)
      if (fee === undefined) continue
      t.true(fee.units * 50n <= (net?.units ?? 0n) + fee.units, 'a fee above 2 %')
      const place = token === sol ? treasury : world().services.chain.associatedAccount(treasury, token.mint)
      t.is(fee.to, place)
    }
    t.log(`${issued} issued`)
    t.true(issued >= variants)
  },
)
