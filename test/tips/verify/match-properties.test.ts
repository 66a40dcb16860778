import test, { type ExecutionContext } from 'ava'
import fc from 'fast-check'
import { solMint, type Token, tokenBySymbol } from '../../../src/kernel/tokens.js'
import type { ChainTransaction } from '../../../src/ports/chain.js'
import { type Claim, claimFromRequest } from '../../../src/tips/record/claim.js'
import type { TipFacts } from '../../../src/tips/verify/match-tip.js'
import { seededRuns } from '../../helpers/random.js'
import {
  chain,
  claim,
  creator,
  intent,
  Landed,
  match,
  otherCreator,
  referenceKey,
  stranger,
  supporter,
  treasury,
  wallet,
} from './transactions.js'

const known = (symbol: string): Token => tokenBySymbol(symbol) as Token
const second = wallet('second supporter')
const everybody = [supporter, second, creator, otherCreator, stranger, treasury]
const anybody = fc.constantFrom(...everybody)
const anyToken = fc.constantFrom('SOL', 'USDC', 'BONK').map(known)
const units = fc.bigInt({ min: 1n, max: 1_000_000n })
const tokenAmount = fc.oneof(
  units.map(String),
  fc.integer({ min: 1, max: 10 ** 6 }).map((n) => String(n / 1000)),
)

interface Scene {
  readonly landed: Landed
  readonly carriesIntent: boolean
}
const payment = fc.record({
  from: anybody,
  to: anybody,
  token: anyToken,
  amount: units,
  kept: fc.bigInt({ min: 0n, max: 3n }),
})
const scene: fc.Arbitrary<Scene> = fc
  .record({
    signers: fc.uniqueArray(anybody, { minLength: 1, maxLength: 3 }),
    payments: fc.array(payment, { maxLength: 5 }),
    carriesIntent: fc.boolean(),
  })
  .map(({ signers, payments, carriesIntent }) => {
    const landed = new Landed(...(signers as [string, ...string[]]))
    for (const { from, to, token, amount, kept } of payments)
      landed.pay(token, from, to, amount, amount > kept ? amount - kept : amount)
    return { landed: carriesIntent ? landed.naming(referenceKey) : landed, carriesIntent }
  })
const anyClaim: fc.Arbitrary<Claim> = fc.record({
  creatorWallet: anybody,
  sender: anybody,
  amount: tokenAmount,
  tokenSymbol: fc.constantFrom('SOL', 'USDC', 'BONK', 'FAKE'),
  message: fc.constantFrom(null, 'hi', 'x'),
  intentId: fc.constantFrom(null, 'pi_1', 'pi_2'),
})
const anyIntent = fc.record({
  payoutWallet: fc.constantFrom(creator, otherCreator, stranger),
  token: anyToken,
  leastRaw: fc.constantFrom(1n, 500_000n),
})

/** The gain of a wallet, read directly from the balances. */
function gained(transaction: ChainTransaction, owner: string, { mint }: Token): bigint {
  if (mint === solMint) return transaction.lamports.get(owner) ?? 0n
  const account = chain.associatedAccount(owner, mint)
  return transaction.tokens.find((change) => change.account === account)?.delta ?? 0n
}

function lost(transaction: ChainTransaction, owner: string, token: Token): bigint {
  const fee = token.mint === solMint && owner === transaction.feePayer ? transaction.networkFee : 0n
  return -gained(transaction, owner, token) - fee
}

function checkAmounts(t: ExecutionContext, transaction: ChainTransaction, facts: TipFacts): void {
  const { sender, token, received, displayed, feeFound, credits } = facts
  const fee = gained(transaction, treasury, token)
  t.is(displayed > received, feeFound)
  t.true(displayed >= received && displayed <= received + (fee > 0n ? fee : 0n))
  t.true(displayed <= lost(transaction, sender, token), 'more than the sender gave')
  for (const [paid, amount] of credits) t.is(amount, gained(transaction, paid, known('USDC')))
  for (const symbol of ['SOL', 'USDC', 'BONK'])
    for (const custody of [creator, otherCreator])
      t.true(gained(transaction, custody, known(symbol)) >= 0n, 'a debited custody wallet')
}

function checkIntent(
  t: ExecutionContext,
  { recipient, received, intentId, underpaidIntentId }: TipFacts,
  issued: { readonly payoutWallet: string; readonly leastRaw: bigint },
): void {
  t.true(intentId === null || underpaidIntentId === null)
  if (intentId === null) return
  t.is(recipient, issued.payoutWallet)
  t.true(received >= issued.leastRaw, 'an underpaid intent')
}

test('for any transaction and any claims, a tip matches the balance changes', (t) => {
  let found = 0
  fc.assert(
    fc.property(
      scene,
      anyIntent,
      fc.array(anyClaim, { maxLength: 5 }),
      ({ landed, carriesIntent }, issued, claims) => {
        const intents = carriesIntent ? [intent({ ...issued, outputMint: issued.token.mint })] : []
        const transaction = landed.build()
        const facts = match(landed, { claims, intents })
        if (facts === undefined) return
        found += 1
        const unclaimed = match(landed, { intents })
        if (unclaimed?.recipient === facts.recipient && unclaimed.token === facts.token)
          t.is(facts.displayed, unclaimed.displayed, 'an amount that a claim decides')
        checkAmounts(t, transaction, facts)
        checkIntent(t, facts, issued)
        const all = [facts, ...(facts.further ?? [])]
        for (const { recipient, sender, token, received } of all) {
          t.is(received, gained(transaction, recipient, token))
          t.true(received > 0n)
          t.false(transaction.signers.has(recipient), 'a recipient who signs')
          t.not(recipient, treasury)
          t.true(transaction.signers.has(sender), 'a sender who does not sign')
          t.true(lost(transaction, sender, token) >= received, 'a sender who did not pay')
        }
        const recipients = all.map(({ recipient }) => recipient)
        t.is(new Set(recipients).size, recipients.length, 'money that pays twice')
        t.true(all.filter(({ intentId }) => intentId !== null).length <= 1, 'an intent that is paid twice')
        // A claim without a token means SOL, unless it names the intent.
        const agrees = (one: Claim, of: TipFacts): boolean =>
          one.creatorWallet === of.recipient &&
          one.sender === of.sender &&
          (one.tokenSymbol === of.token.symbol ||
            (one.tokenSymbol === 'SOL' &&
              one.intentId !== null &&
              [of.intentId, of.underpaidIntentId].includes(one.intentId)))
        t.deepEqual(
          facts.agreeing,
          claims.map((one) => all.some((of) => agrees(one, of))),
        )
        for (const of of all) {
          const said = claims.filter((one) => agrees(one, of)).map(({ message }) => message)
          t.true(of.message === null || said.includes(of.message), 'a message of a claim that is false')
        }
      },
    ),
    seededRuns(t, 5000),
  )
  t.log(`${found} tips found`)
  t.true(found > 100, 'too few tips to say anything')
})

/** A landed tip as the service builds it, with or without an intent, and its true claim. */
const honest = fc
  .record({
    token: anyToken,
    gross: fc.bigInt({ min: 100n, max: 10n ** 15n }),
    withFee: fc.boolean(),
    withIntent: fc.boolean(),
    newAccount: fc.boolean(),
    sponsored: fc.boolean(),
    priority: fc.bigInt({ min: 0n, max: 1_000_000n }),
    registered: fc.boolean(),
    claimed: fc.constantFrom('gross', 'net', 'display'),
  })
  .map((how) => {
    const sponsor = wallet('sponsor')
    const fee = how.withFee ? how.gross / 50n : 0n
    const net = how.gross - fee
    const landed = how.sponsored ? new Landed(sponsor, supporter) : new Landed(supporter)
    landed.priority(how.priority)
    if (how.newAccount && how.token.mint !== solMint)
      landed.payNewAccount(how.token, supporter, creator, net, how.sponsored ? sponsor : supporter)
    else landed.pay(how.token, supporter, creator, net)
    if (fee > 0n) landed.pay(how.token, supporter, treasury, fee)
    if (how.withIntent) landed.naming(referenceKey)
    return { ...how, landed, net, fee }
  })

function trueClaim({
  token,
  gross,
  net,
  claimed,
}: {
  token: Token
  gross: bigint
  net: bigint
  claimed: string
}): Claim {
  const whole = Number(claimed === 'net' ? net : gross)
  const tipAmount = claimed === 'display' && token.mint !== solMint ? whole / 10 ** token.decimals : whole
  return claimFromRequest(
    {
      creatorWallet: creator,
      senderWallet: supporter,
      txSignature: '1'.repeat(64),
      tipAmount,
      tokenSymbol: token.symbol,
    },
    'thank you',
  )
}

test('every genuine form of a tip is found with the amount the supporter gave', (t) => {
  fc.assert(
    fc.property(honest, (how) => {
      const facts = match(how.landed, {
        claims: [trueClaim(how)],
        intents: how.withIntent ? [intent({ outputMint: how.token.mint })] : [],
        creators: new Set(how.registered ? [creator] : []),
      })
      t.like(facts, {
        recipient: creator,
        sender: supporter,
        token: how.token,
        received: how.net,
        message: 'thank you',
      })
      t.is(facts?.displayed, how.gross)
      t.is(facts?.feeFound, how.fee > 0n)
      t.is(facts?.intentId, how.withIntent ? 'pi_1' : null)
    }),
    seededRuns(t, 1000),
  )
})

/** Claims that contradict a genuine tip in at least one field. The other fields are random. */
const poison: fc.Arbitrary<Claim> = fc
  .tuple(
    anyClaim,
    fc.oneof(
      fc.record({ creatorWallet: fc.constantFrom(otherCreator, stranger, treasury, supporter) }),
      fc.record({ sender: fc.constantFrom(second, stranger, creator, treasury, wallet('sponsor')) }),
      fc.record({ tokenSymbol: fc.constant('FAKE') }),
    ),
  )
  .map(([one, lie]) => ({ ...one, ...lie }))

test('false claims, before or after the true one, change nothing', (t) => {
  fc.assert(
    fc.property(
      honest,
      fc.array(poison, { maxLength: 4 }),
      fc.array(poison, { maxLength: 4 }),
      (how, before, after) => {
        const truth = trueClaim(how)
        const input = {
          intents: how.withIntent ? [intent({ outputMint: how.token.mint })] : [],
          creators: new Set(how.registered ? [creator] : []),
        }
        const clean = match(how.landed, { ...input, claims: [truth] }) as TipFacts
        const poisoned = match(how.landed, { ...input, claims: [...before, truth, ...after] })
        const agreeing = [...before.map(() => false), true, ...after.map(() => false)]
        t.deepEqual(poisoned, { ...clean, agreeing })
      },
    ),
    seededRuns(t, 1000),
  )
})

test('false claims alone neither create nor change a tip', (t) => {
  fc.assert(
    fc.property(honest, fc.array(poison, { minLength: 1, maxLength: 5 }), (how, claims) => {
      const unknown = match(how.landed, { claims, creators: new Set() })
      t.is(unknown, undefined)
      const facts = match(how.landed, { claims })
      t.like(facts, {
        recipient: creator,
        sender: supporter,
        received: how.net,
        displayed: how.gross,
        message: null,
      })
    }),
    seededRuns(t),
  )
})

test('the displayed amount is what arrived and the fee transfer, for any claimed amount', (t) => {
  const amounts = fc.bigInt({ min: 1n, max: 2000n })
  fc.assert(
    fc.property(
      amounts,
      fc.bigInt({ min: 1n, max: 1000n }),
      fc.bigInt({ min: 0n, max: 50n }),
      (claimed, net, fee) => {
        const token = tokenBySymbol('USDC') as Token
        const landed = new Landed(supporter).pay(token, supporter, creator, net)
        if (fee > 0n) landed.pay(token, supporter, treasury, fee)
        const facts = match(landed, { claims: [claim({ tokenSymbol: 'USDC', amount: String(claimed) })] })
        t.is(facts?.displayed, net + fee)
      },
    ),
    seededRuns(t, 1000),
  )
})
