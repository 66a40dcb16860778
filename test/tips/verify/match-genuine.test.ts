import test from 'ava'
import { solMint } from '../../../src/kernel/tokens.js'
import type { ChainTransaction } from '../../../src/ports/chain.js'
import type { MatchInput } from '../../../src/tips/verify/match-tip.js'
import {
  bonk,
  claim,
  creator,
  intent,
  Landed,
  landedAt,
  match,
  otherCreator,
  referenceKey,
  sol,
  stranger,
  supporter,
  tokenRent,
  treasury,
  usdc,
  wallet,
} from './transactions.js'

const oneSol = 1_000_000_000n

test('what others give the treasury in the same transaction is not part of the amount', (t) => {
  const other = wallet('another supporter')
  const landed = new Landed(supporter, other)
    .pay(usdc, supporter, creator, 98n)
    .pay(usdc, supporter, treasury, 2n)
    .pay(usdc, other, treasury, 1_000_000n)
  t.like(match(landed), { sender: supporter, received: 98n, displayed: 100n })
})

test('the amount does not depend on which of two possible senders a claim names', (t) => {
  const other = wallet('another supporter')
  for (const given of [98n, 99n, 100n, 1_000_000n]) {
    const landed = new Landed(supporter, other)
      .pay(usdc, supporter, creator, 98n)
      .pay(usdc, supporter, treasury, 2n)
      .pay(usdc, other, stranger, given)
    const claimedBy = (sender: string) =>
      match(landed, { claims: [claim({ sender, tokenSymbol: 'USDC', message: 'mine' })] })
    t.like(claimedBy(supporter), { sender: supporter, message: 'mine' })
    t.like(claimedBy(other), { sender: other, message: 'mine' })
    const shown = [undefined, supporter, other].map((sender) =>
      sender === undefined ? match(landed)?.displayed : claimedBy(sender)?.displayed,
    )
    const least = given < 100n ? given : 100n
    t.deepEqual(shown, [least, least, least], 'no more than either of them gave')
  }
})

test('the fee of a swap is found in either token, and changes no amount', (t) => {
  const swap = { intents: [intent({ inputMint: solMint, outputMint: usdc.mint })] }
  const landed = () =>
    new Landed(supporter)
      .naming(referenceKey)
      .pay(sol, supporter, stranger, 1_000_000n)
      .pay(usdc, wallet('pool'), creator, 140n)
  t.like(match(landed(), swap), { displayed: 140n, feeFound: false })
  t.like(match(landed().pay(sol, supporter, treasury, 20_000n), swap), { displayed: 140n, feeFound: true })
  t.like(match(landed().pay(usdc, wallet('pool'), treasury, 3n), swap), { displayed: 140n, feeFound: true })
  t.like(match(landed().pay(bonk, wallet('pool'), treasury, 3n), swap), { displayed: 140n, feeFound: false })
})

test('a sponsor may pay fee and rent while the supporter pays the tip', (t) => {
  const sponsor = wallet('sponsor')
  const landed = new Landed(sponsor, supporter).payNewAccount(usdc, supporter, creator, 5_000_000n, sponsor)
  t.like(match(landed, { claims: [claim({ tokenSymbol: 'USDC', amount: '5' })] }), { sender: supporter })
  t.like(match(landed), { sender: supporter }, 'without a claim as well')
})

test('among several signers who paid, the sender is the one the claim or the intent names', (t) => {
  const sponsor = wallet('sponsor')
  const landed = () =>
    new Landed(sponsor, supporter)
      .naming(referenceKey)
      .pay(sol, supporter, creator, 1_000_000n)
      .lamports(sponsor, -tokenRent)
      .lamports(wallet('an account made for the sponsor'), tokenRent)
  const claims = [claim({ amount: '0.001', message: 'hi' })]
  t.like(match(landed(), { claims }), { sender: supporter, message: 'hi' })
  t.like(match(landed(), { claims, intents: [intent()] }), {
    sender: supporter,
    message: 'hi',
    intentId: 'pi_1',
  })
  t.like(match(landed(), { intents: [intent({ sourceWallet: stranger })] }), {
    intentId: 'pi_1',
    recipient: creator,
  })
})

test('an intent is found without a claim, also when it landed late', (t) => {
  const landed = () => new Landed(supporter).naming(referenceKey).pay(sol, supporter, creator, oneSol)
  const expected = {
    recipient: creator,
    sender: supporter,
    received: oneSol,
    displayed: oneSol,
    message: null,
    intentId: 'pi_1',
  }
  t.like(match(landed(), { intents: [intent()] }), expected)
  t.like(match(landed().at(undefined), { intents: [intent()] }), expected)
  t.like(match(landed(), { intents: [intent()], notBefore: new Date(landedAt.getTime() + 1) }), expected)
})

test('a claim that names the intent needs no token: its message and amount count', (t) => {
  const landed = () =>
    new Landed(supporter)
      .naming(referenceKey)
      .pay(usdc, supporter, creator, 2_940_000n)
      .pay(usdc, supporter, treasury, 60_000n)
  const intents = [intent({ outputMint: usdc.mint })]
  // Three million base units without a token symbol, stored like lamports.
  const tied = claim({ amount: '0.003', message: 'hi', intentId: 'pi_1' })
  t.like(match(landed(), { intents, claims: [tied] }), {
    message: 'hi',
    displayed: 3_000_000n,
    agreeing: [true],
  })
  const free = { ...tied, intentId: null }
  t.like(match(landed(), { intents, claims: [free] }), { message: null, agreeing: [false] })
  const stolen = { ...tied, sender: stranger }
  t.like(match(landed(), { intents, claims: [stolen] }), { message: null, agreeing: [false] })
})

test('of two intents in one transaction, the paid one counts', (t) => {
  const landed = new Landed(supporter).naming(referenceKey).pay(usdc, supporter, otherCreator, 5n)
  const intents = [intent(), intent({ id: 'pi_2', payoutWallet: otherCreator, outputMint: usdc.mint })]
  t.like(match(landed, { intents }), { recipient: otherCreator, token: usdc, intentId: 'pi_2' })
})

test('if the intent is not paid, the creator who was paid counts', (t) => {
  const landed = new Landed(supporter).naming(referenceKey).pay(sol, supporter, otherCreator, oneSol)
  const facts = match(landed, { intents: [intent()], claims: [claim({ creatorWallet: otherCreator })] })
  t.like(facts, { recipient: otherCreator, intentId: null })
})

test('of several registered creators, the one who received most in USD is the recipient, whatever is claimed', (t) => {
  const landed = () =>
    new Landed(supporter)
      .pay(usdc, supporter, creator, 50_000_000n)
      .pay(sol, supporter, otherCreator, 300_000_000n)
      .pay(bonk, supporter, stranger, 10n ** 15n)
  const claims = [
    claim({ creatorWallet: stranger, tokenSymbol: 'BONK' }),
    claim({ creatorWallet: otherCreator, message: 'mine' }),
  ]
  t.like(match(landed(), { claims }), { recipient: creator, token: usdc, message: null })
  t.like(match(landed()), { recipient: creator, token: usdc })
  const dearer = landed().pay(sol, supporter, otherCreator, 100_000_000n)
  t.like(match(dearer, { claims }), { recipient: otherCreator, token: sol, message: 'mine' })
  const both = landed().pay(usdc, supporter, otherCreator, 10_000_000n)
  t.like(match(both), { recipient: otherCreator, token: sol }, 'all tokens of a creator count together')
})

test('of two creators who received the same, the lower address is the recipient', (t) => {
  const [lower = ''] = [creator, otherCreator].sort()
  for (const [first, second] of [
    [creator, otherCreator],
    [otherCreator, creator],
  ] as const) {
    const landed = new Landed(supporter).pay(usdc, supporter, first, 5n).pay(usdc, supporter, second, 5n)
    const claims = [claim({ creatorWallet: second, tokenSymbol: 'USDC' })]
    t.like(match(landed, { claims, creators: new Set([first, second]) }), { recipient: lower })
  }
})

test('an intent is paid when at least its least amount arrived', (t) => {
  const landed = () =>
    new Landed(supporter)
      .naming(referenceKey)
      .pay(usdc, supporter, creator, 980n)
      .pay(usdc, supporter, treasury, 20n)
  const asks = (leastRaw: bigint) => ({ intents: [intent({ outputMint: usdc.mint, leastRaw })] })
  t.like(match(landed(), asks(980n)), { intentId: 'pi_1', underpaidIntentId: null })
  t.like(match(landed(), asks(979n)), { intentId: 'pi_1', underpaidIntentId: null })
  t.like(match(landed(), asks(981n)), {
    intentId: null,
    underpaidIntentId: 'pi_1',
    recipient: creator,
    received: 980n,
    displayed: 1000n,
  })
  const unregistered = { ...asks(981n), creators: new Set<string>() }
  t.like(match(landed(), unregistered), { underpaidIntentId: 'pi_1', recipient: creator })
})

test('a claim counts from exactly the start of the window', (t) => {
  const landed = () => new Landed(supporter).pay(sol, supporter, creator, oneSol)
  const claims = [claim()]
  t.truthy(match(landed(), { claims, notBefore: landedAt }))
  t.is(match(landed(), { claims, notBefore: new Date(landedAt.getTime() + 1) }), undefined)
  t.is(match(landed().at(undefined), { claims }), undefined)
})

test('of two tokens to one creator, the one worth more is the tip, whatever is claimed', (t) => {
  const landed = (lamports: bigint) =>
    new Landed(supporter).pay(sol, supporter, creator, lamports).pay(usdc, supporter, creator, 5n)
  for (const claims of [[], [claim({ amount: '1' })], [claim({ tokenSymbol: 'USDC', amount: '5' })]]) {
    t.like(match(landed(7n), { claims }), { token: usdc, received: 5n })
    t.like(match(landed(7_000_000n), { claims }), { token: sol, received: 7_000_000n })
  }
})

test('the order in which a node lists token accounts does not matter', (t) => {
  const { tokens: changes, ...rest }: ChainTransaction = new Landed(supporter)
    .pay(usdc, supporter, creator, 98n)
    .pay(usdc, supporter, treasury, 2n)
    .change({ account: wallet('side account'), ownerBefore: creator, ownerAfter: creator, delta: 0n })
    .build()
  const both = [changes, changes.toReversed()].map((order) =>
    match(new Landed(supporter), {
      transaction: { ...rest, tokens: order },
      claims: [claim({ tokenSymbol: 'USDC', amount: '100' })],
    }),
  )
  t.like(both[0], { received: 98n, displayed: 100n })
  t.deepEqual(both[0], both[1])
})

test("words in a supporter's mouth: the intent's message stands, then a claim that names it, then one in time", (t) => {
  const landed = (): Landed => new Landed(supporter).naming(referenceKey).pay(sol, supporter, creator, oneSol)
  const after = (minutes: number, change: Parameters<typeof claim>[0]) => ({
    ...claim(change),
    claimedMs: landedAt.getTime() + minutes * 60_000,
  })
  const early = after(10, { message: 'early' })
  const late = after(10.001, { message: 'late' })
  const named = after(24 * 60, { message: 'named', intentId: 'pi_1' })
  const namedLate = after(24 * 60 + 0.001, { message: 'named late', intentId: 'pi_1' })
  const told = (intents: MatchInput['intents'], ...claims: MatchInput['claims']) => {
    const { message, messageByIntent } = match(landed(), { intents, claims }) ?? {}
    return `${message} ${messageByIntent}`
  }
  t.is(told([intent({ message: 'own' })], early, named), 'own true')
  t.is(told([intent()], early, named, namedLate), 'named true')
  t.is(told([intent()], namedLate, late, early), 'early false')
  t.is(told([intent()], late, namedLate), 'null false')
  t.is(told([], late), 'null false')
  t.is(told([], early), 'early false')
  // Anyone may have created an intent that is only alike: its words come last, and its id proves nothing.
  const alike = intent({ message: 'alike', isCertain: false })
  t.is(told([alike], named, early), 'early false')
  t.is(told([alike], named), 'alike false')
})
