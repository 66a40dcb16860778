import test from 'ava'
import { solMint } from '../../../src/kernel/tokens.js'
import { creditsOf } from '../../../src/tips/verify/balance-changes.js'
import {
  chain,
  claim,
  creator,
  intent,
  Landed,
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
const attacker = wallet('attacker')
const credits = (landed: Landed, custodyWallets = [creator, otherCreator]) =>
  creditsOf(chain, landed.build(), new Set(custodyWallets), treasury)
const nobodyKnown = { creators: new Set<string>() }
const creatorUsdc = chain.associatedAccount(creator, usdc.mint)
const tipInSol = () =>
  new Landed(supporter).pay(sol, supporter, creator, 980_000_000n).pay(sol, supporter, treasury, 20_000_000n)
const tipInUsdc = () =>
  new Landed(supporter).pay(usdc, supporter, creator, 98n).pay(usdc, supporter, treasury, 2n)

test('A1: a payment cannot be claimed by a wallet that did not pay it', (t) => {
  const stolen = claim({ sender: attacker, message: 'mine' })
  t.is(match(tipInSol(), { claims: [stolen], ...nobodyKnown }), undefined)
  t.like(match(tipInSol(), { claims: [stolen] }), { sender: supporter, message: null, agreeing: [false] })
  const cosigned = new Landed(attacker, supporter).pay(sol, supporter, creator, oneSol)
  t.like(match(cosigned, { claims: [stolen] }), { sender: supporter, message: null }, 'signing is not paying')
})

test('A1: a transfer between accounts of one owner is not a tip', (t) => {
  const vault = wallet('vault')
  const landed = () =>
    new Landed(attacker)
      .pay(usdc, vault, creator, 100n)
      .change({
        account: chain.associatedAccount(attacker, usdc.mint),
        ownerBefore: attacker,
        ownerAfter: attacker,
        delta: -100n,
      })
      .change({ account: wallet('new account'), ownerAfter: attacker, delta: 100n })
  t.is(
    match(landed(), { claims: [claim({ sender: attacker, tokenSymbol: 'USDC', amount: '100' })] }),
    undefined,
  )
  t.deepEqual([...credits(landed())], [[creator, 100n]], 'the money of the vault has arrived all the same')
})

test('what arrived in a custody wallet is credited, whoever lost it, unless the transaction debits one', (t) => {
  const pool = wallet('pool')
  const swapAndSend = () =>
    new Landed(attacker)
      .pay(sol, attacker, pool, oneSol)
      .pay(usdc, pool, creator, 60n)
      .pay(usdc, pool, otherCreator, 40n)
  t.is(match(swapAndSend().pay(sol, pool, attacker, oneSol)), undefined)
  t.deepEqual(
    [...credits(swapAndSend())].sort(([, a], [, b]) => Number(b - a)),
    [
      [creator, 60n],
      [otherCreator, 40n],
    ],
  )
  const second = { account: wallet('second account'), ownerBefore: creator, ownerAfter: creator }
  const none: [string, Landed][] = [
    ['between custody wallets', swapAndSend().pay(usdc, otherCreator, creator, 70n)],
    ['from another account of the wallet', swapAndSend().change({ ...second, delta: -60n })],
    ['an account handed away', swapAndSend().change({ ...second, ownerAfter: stranger })],
    ['lamports of a custody wallet', swapAndSend().lamports(otherCreator, -1n)],
  ]
  for (const [what, landed] of none) t.deepEqual([...credits(landed)], [], what)
  const aside = new Landed(attacker).pay(usdc, pool, attacker, 5n).change({ ...second, delta: 60n })
  t.deepEqual([...credits(aside)], [], 'only the associated account')
  const handed = new Landed(attacker).pay(usdc, pool, creator, 60n)
  t.deepEqual([...credits(handed.change({ account: creatorUsdc, ownerBefore: stranger }))], [])
  const signs = new Landed(attacker, creator).pay(usdc, pool, creator, 60n)
  t.deepEqual([...credits(signs)], [], 'a recipient who signs')
  const toTreasury = new Landed(attacker).pay(usdc, pool, treasury, 60n)
  t.deepEqual([...credits(toTreasury, [treasury])], [], 'the treasury only receives fees')
})

test('A2: a false claim that came first changes nothing', (t) => {
  const truth = claim({ message: 'thank you' })
  const expected = match(tipInSol(), { claims: [truth] })
  const lies = [
    claim({ creatorWallet: attacker, message: 'x' }),
    claim({ creatorWallet: otherCreator, message: 'x' }),
    claim({ creatorWallet: treasury, amount: '0.02', message: 'x' }),
    claim({ creatorWallet: supporter, message: 'x' }),
    claim({ sender: attacker, message: 'x' }),
    claim({ sender: creator, message: 'x' }),
    claim({ tokenSymbol: 'USDC', message: 'x' }),
    claim({ tokenSymbol: 'FAKE', message: 'x' }),
  ]
  for (const lie of lies) {
    t.deepEqual(match(tipInSol(), { claims: [lie, truth] }), {
      ...expected,
      agreeing: [false, true],
    } as never)
    t.deepEqual(match(tipInSol(), { claims: [truth, lie] }), {
      ...expected,
      agreeing: [true, false],
    } as never)
    t.like(match(tipInSol(), { claims: [lie] }), { recipient: creator, sender: supporter, message: null })
  }
})

test('A2: an unknown wallet does not take a tip from the claimed creator', (t) => {
  const landed = () => tipInSol().pay(sol, supporter, stranger, 1000n)
  const aside = claim({ creatorWallet: stranger, amount: '0.000001' })
  t.like(match(landed(), { claims: [aside, claim()] }), { recipient: creator })
  t.like(match(landed(), { claims: [claim(), aside] }), { recipient: creator })
})

test('A5: a mint that calls itself USDC is not USDC', (t) => {
  const fake = { ...usdc, mint: wallet('fake mint') }
  const landed = new Landed(attacker).pay(fake, attacker, creator, 10n ** 12n)
  t.is(
    match(landed, { claims: [claim({ sender: attacker, tokenSymbol: 'USDC', amount: '1000000' })] }),
    undefined,
  )
  t.is(match(landed.naming(referenceKey), { intents: [intent({ outputMint: fake.mint })] }), undefined)
})

test('A10: a transaction that pays two creators is the tip of the one who received most, and a further tip', (t) => {
  const both = () =>
    new Landed(supporter).pay(sol, supporter, creator, 5n).pay(sol, supporter, otherCreator, 7_000_000n)
  t.like(match(both(), { claims: [claim(), claim({ creatorWallet: otherCreator })] }), {
    recipient: otherCreator,
    received: 7_000_000n,
    agreeing: [true, true],
    further: [{ recipient: creator, received: 5n, credits: new Map() }],
  })
  t.like(match(both()), { recipient: otherCreator, received: 7_000_000n })
  const claims = [claim({ creatorWallet: stranger })]
  t.deepEqual(match(both(), { claims })?.agreeing, [false], 'a claim of a third wallet')
})

test('a transaction that debits a custody wallet is never a tip', (t) => {
  const paid = () => tipInUsdc().naming(referenceKey)
  const intents = [intent({ outputMint: usdc.mint })]
  const claims = [claim({ tokenSymbol: 'USDC', amount: '98' })]
  t.truthy(match(paid(), { claims, intents }))
  t.is(match(paid().lamports(otherCreator, -1n), { claims, intents }), undefined)
  t.is(match(paid().pay(usdc, otherCreator, stranger, 1n), { claims, intents }), undefined)
  t.is(match(paid().pay(usdc, otherCreator, creator, 1n), { claims, intents }), undefined)
  const elsewhere = { account: wallet('second account'), ownerBefore: otherCreator, ownerAfter: otherCreator }
  t.is(match(paid().change({ ...elsewhere, delta: -1n }), { claims, intents }), undefined)
  t.is(match(paid().change({ ...elsewhere, ownerAfter: stranger }), { claims, intents }), undefined)
  t.truthy(match(paid().change({ ...elsewhere, delta: 1n }), { claims, intents }))
})

test('A11: a tip to oneself is not a tip', (t) => {
  const landed = () => new Landed(creator).pay(sol, wallet('vault'), creator, oneSol)
  t.is(match(landed(), { claims: [claim({ sender: creator })] }), undefined)
  t.is(match(landed().naming(referenceKey), { intents: [intent({ sourceWallet: creator })] }), undefined)
  const swapped = new Landed(supporter, creator).pay(sol, supporter, creator, oneSol)
  t.is(match(swapped, { claims: [claim({ sender: creator }), claim()] }), undefined)
})

test('A13, A23: a recipient who signs receives no tip, for any balances', (t) => {
  for (const signers of [
    [creator, supporter],
    [supporter, creator],
  ] as [string, string][]) {
    const landed = () =>
      new Landed(...signers).pay(sol, supporter, creator, oneSol).pay(usdc, supporter, creator, 5n)
    t.is(match(landed(), { claims: [claim(), claim({ tokenSymbol: 'USDC', amount: '5' })] }), undefined)
    t.is(match(landed().naming(referenceKey), { intents: [intent()] }), undefined)
  }
})

test('A13, A14: an amount that is taken back in the same transaction is not paid', (t) => {
  const back = () => tipInUsdc().pay(usdc, creator, supporter, 98n)
  t.is(match(back(), { claims: [claim({ tokenSymbol: 'USDC', amount: '98' })] }), undefined)
  const partly = new Landed(supporter)
    .pay(sol, supporter, creator, oneSol)
    .pay(sol, creator, supporter, oneSol - 1n)
  t.like(match(partly, { claims: [claim()] }), { received: 1n, displayed: 1n })
  const more = new Landed(supporter).pay(usdc, supporter, creator, 5n).pay(usdc, creator, attacker, 6n)
  t.is(match(more, { claims: [claim({ tokenSymbol: 'USDC', amount: '5' })] }), undefined)
})

test('A17, A18: tokens of another token program do not count, with or without a transfer fee', (t) => {
  const landed = (received: bigint) =>
    new Landed(supporter)
      .pay(usdc, supporter, creator, 100n, received)
      .change({ account: creatorUsdc, classic: false })
  for (const received of [100n, 97n]) {
    t.is(match(landed(received), { claims: [claim({ tokenSymbol: 'USDC', amount: '100' })] }), undefined)
    t.is(
      match(landed(received).naming(referenceKey), { intents: [intent({ outputMint: usdc.mint })] }),
      undefined,
    )
  }
})

test('A17: if less arrives than the sender gave, the received amount counts', (t) => {
  const landed = new Landed(supporter).pay(usdc, supporter, creator, 100n, 97n)
  t.like(match(landed, { claims: [claim({ tokenSymbol: 'USDC', amount: '100' })] }), {
    received: 97n,
    displayed: 97n,
  })
})

test('A19: a token account that changes its owner, in either direction, is not a payment', (t) => {
  const claims = [claim({ tokenSymbol: 'USDC', amount: '100' })]
  const given = new Landed(supporter)
    .pay(usdc, supporter, creator, 100n)
    .change({ account: creatorUsdc, ownerBefore: supporter })
  t.is(match(given, { claims }), undefined)
  const givenByAnother = new Landed(supporter)
    .pay(usdc, supporter, creator, 100n)
    .change({ account: creatorUsdc, ownerBefore: stranger })
  t.is(match(givenByAnother, { claims }), undefined)
  const lost = new Landed(supporter)
    .pay(usdc, supporter, creator, 100n)
    .change({ account: creatorUsdc, ownerAfter: supporter })
  t.is(match(lost, { claims }), undefined)
})

test('A19, A24: only the associated account of the creator counts', (t) => {
  const elsewhere = wallet('another account of the creator')
  const claims = [claim({ tokenSymbol: 'USDC', amount: '100' })]
  const aside = () =>
    new Landed(supporter)
      .change({
        account: chain.associatedAccount(supporter, usdc.mint),
        ownerBefore: supporter,
        ownerAfter: supporter,
        delta: -100n,
      })
      .change({ account: elsewhere, ownerBefore: creator, ownerAfter: creator, delta: 100n })
  t.is(match(aside(), { claims }), undefined)
  const both = new Landed(supporter)
    .pay(usdc, supporter, creator, 40n)
    .pay(usdc, supporter, stranger, 60n)
    .change({
      account: chain.associatedAccount(stranger, usdc.mint),
      ownerBefore: creator,
      ownerAfter: creator,
    })
  t.like(match(both, { claims }), { received: 40n, displayed: 40n })
})

test('A21: rent returned to the creator’s wallet is not a tip, because no signer paid it', (t) => {
  const landed = () =>
    new Landed(attacker).lamports(wallet('closed account'), -tokenRent).lamports(creator, tokenRent)
  t.is(match(landed(), { claims: [claim({ sender: attacker, amount: '0.00203928' })] }), undefined)
  t.is(match(landed()), undefined)
})

test('A21: wrapped SOL is SOL in the associated account of the creator, and nowhere else', (t) => {
  const [from, to] = [attacker, creator].map((owner) => chain.associatedAccount(owner, solMint)) as [
    string,
    string,
  ]
  const landed = (account: string, owner: { ownerBefore?: string; ownerAfter?: string }) =>
    new Landed(attacker)
      .change({ account: from, mint: solMint, ownerBefore: attacker, ownerAfter: attacker, delta: -oneSol })
      .change({ ownerBefore: creator, ownerAfter: creator, ...owner, account, mint: solMint, delta: oneSol })
      .lamports(from, -oneSol)
      .lamports(account, oneSol)
  const found = (...args: Parameters<typeof landed>) =>
    match(landed(...args), { claims: [claim({ sender: attacker })] })
  t.like(found(to, {}), { sender: attacker, received: oneSol })
  t.is(found(wallet('another account'), {}), undefined)
  t.is(found(to, { ownerBefore: attacker }), undefined)
  t.is(found(to, { ownerAfter: attacker }), undefined)
})

test('A23: the network fee is not a payment, nor part of one', (t) => {
  const rebate = new Landed(attacker).lamports(creator, 5000n).lamports(wallet('vault'), -5000n)
  t.is(match(rebate, { claims: [claim({ sender: attacker, amount: '0.000005' })] }), undefined)
  const short = new Landed(attacker)
    .lamports(attacker, -1n)
    .lamports(creator, 2n)
    .lamports(wallet('vault'), -1n)
  t.is(match(short, { claims: [claim({ sender: attacker })] }), undefined)
})

test('A28: an old transfer between strangers is not a tip without an intent', (t) => {
  const notBefore = new Date('2026-01-02T00:00:00Z')
  const old = () => tipInSol().at(new Date('2026-01-01T00:00:00Z')).naming(referenceKey)
  t.is(match(old(), { claims: [claim()], notBefore }), undefined)
  t.is(match(old(), { notBefore }), undefined)
  t.truthy(match(old(), { intents: [intent()], notBefore }))
})

test('a fee transfer in another token, or to another wallet, supports no more than the received amount', (t) => {
  const elsewhere = () =>
    new Landed(supporter)
      .pay(sol, supporter, creator, 980_000_000n)
      .pay(sol, supporter, stranger, 20_000_000n)
  t.like(match(elsewhere(), { claims: [claim()] }), { displayed: 980_000_000n, feeFound: false })
  const mixed = () =>
    new Landed(supporter).pay(usdc, supporter, creator, 98n).pay(sol, supporter, treasury, 2n)
  t.like(match(mixed(), { claims: [claim({ tokenSymbol: 'USDC', amount: '100' })] }), {
    displayed: 98n,
    feeFound: false,
  })
})

test('a transaction that takes from the treasury supports no more than the received amount', (t) => {
  const landed = new Landed(supporter)
    .pay(sol, supporter, creator, 980_000_000n)
    .pay(sol, treasury, stranger, 20_000_000n)
  t.like(match(landed, { claims: [claim({ amount: '0.96' })] }), { displayed: 980_000_000n, feeFound: false })
  t.like(match(landed, { claims: [claim({ amount: '0.980000001' })] }), { displayed: 980_000_000n })
})

test('an intent that pays the treasury has no fee transfer besides the payment', (t) => {
  const landed = new Landed(supporter).naming(referenceKey).pay(sol, supporter, treasury, oneSol)
  const claims = [claim({ creatorWallet: treasury, amount: '2' })]
  const facts = match(landed, { claims, intents: [intent({ payoutWallet: treasury })] })
  t.like(facts, { recipient: treasury, received: oneSol, displayed: oneSol, feeFound: false })
})
