import { PublicKey } from '@solana/web3.js'
import test from 'ava'
import { solMint } from '../../src/kernel/tokens.js'
import { createIntent } from '../helpers/make/intents.js'
import { unusedWallet } from '../helpers/make/supporter.js'
import { useWorld } from '../helpers/servers/world.js'
import type { RandomSource } from './run-attack.js'
import { type Attack, type AttackCase, runAttack } from './run-attack.js'
import {
  type AttackSetup,
  associatedAccount,
  bonk,
  shareAttackSetup,
  sol,
  someUnits,
  transfer,
  usdc,
} from './setup.js'

const world = useWorld(test, { chain: true })
const sharedSetup = shareAttackSetup(world)

/** A true tip to a creator in a random token, and its true claim. */
function honest({ creators, supporter }: AttackSetup, random: RandomSource) {
  const { wallet } = random.pick(creators)
  const token = random.pick([sol, usdc, bonk])
  const units = someUnits()
  const signature = supporter.send(transfer(token, supporter.wallet, wallet, units))
  const claim = {
    creatorWallet: wallet,
    senderWallet: supporter.wallet,
    tipAmount: units,
    tokenSymbol: token.symbol,
  }
  return { wallet, token, units, signature, claim, tip: { recipients: [wallet], mint: token.mint } }
}

const attacks: Record<string, Attack> = {
  'A1: a claim on a payment of another wallet': (setup, random) => {
    const { attacker, creators, insider, treasury, supporter } = setup
    const senderWallet = random.pick([
      attacker.wallet,
      unusedWallet(),
      creators[1].wallet,
      insider.wallet,
      treasury,
    ])
    const lie = { senderWallet, message: 'mine' }
    if (random.below(2) === 0) {
      const { signature, claim, tip } = honest(setup, random)
      return { signature, claims: [{ ...claim, ...lie }], tip: { ...tip, message: null } }
    }
    const stranger = unusedWallet()
    const signature = supporter.send(transfer(sol, supporter.wallet, stranger, someUnits()))
    return { signature, claims: [{ creatorWallet: stranger, ...lie }] }
  },
  'A2: a false claim first, the true one later': (setup, random) => {
    const { signature, claim, tip } = honest(setup, random)
    const lies = [
      { creatorWallet: unusedWallet() },
      { creatorWallet: setup.attacker.wallet },
      { creatorWallet: setup.treasury },
      { senderWallet: setup.attacker.wallet },
      { tokenSymbol: 'USDT' },
      { tokenSymbol: 'SCAM' },
      { creatorWallet: claim.senderWallet, senderWallet: claim.creatorWallet },
    ]
    const falseClaims = Array.from({ length: 1 + random.below(4) }, (_, index) => ({
      ...claim,
      ...random.pick(lies),
      message: `lie ${index}`,
    }))
    return {
      signature,
      claims: [...falseClaims, { ...claim, message: 'truth' }],
      tip: { ...tip, message: 'truth' },
    }
  },
  'A3: an abusive message on true facts': async (setup, random) => {
    const { supporter, creators } = setup
    const creatorId = random.pick(creators).wallet
    const fields = { creatorId, inputTokenMint: usdc.mint, sourceWalletAddress: supporter.wallet }
    const intent = await createIntent(world().request, { ...fields, amount: someUnits() / 1e6 })
    const signature = supporter.pay(intent.transaction)
    const claim = { creatorWallet: creatorId, senderWallet: supporter.wallet, tokenSymbol: 'USDC' }
    const abuse = Array.from({ length: 1 + random.below(3) }, (_, index) => ({
      ...claim,
      tipAmount: 1 + index,
      message: `abuse ${index}`,
    }))
    const own = { ...claim, message: 'thank you', intentId: intent.intentId }
    return {
      signature,
      claims: [...abuse, own],
      tip: { recipients: [creatorId], mint: usdc.mint, message: 'thank you' },
    }
  },
  'A4: a payment to oneself that names a creator': ({ attacker, creators }, random) => {
    const star = random.pick(creators)
    const token = random.pick([sol, usdc, bonk])
    const instructions = transfer(token, attacker.wallet, unusedWallet(), someUnits())
    instructions.at(-1)?.keys.push({ pubkey: new PublicKey(star.wallet), isSigner: false, isWritable: false })
    const signature = attacker.send(instructions)
    const claim = { creatorWallet: star.wallet, senderWallet: attacker.wallet, tokenSymbol: token.symbol }
    return { signature, claims: [claim, { ...claim, tipAmount: 9_000_000 }] }
  },
  'A7: a tiny transfer with a huge claim': ({ attacker, creators }, random, variant) => {
    const { wallet } = random.pick(creators)
    const token = random.pick([sol, usdc, bonk])
    const signature = attacker.send(transfer(token, attacker.wallet, wallet, 1 + variant))
    const tipAmount = random.pick([Number.MAX_SAFE_INTEGER, 10 ** 15, 1_000_000_000])
    const claim = {
      creatorWallet: wallet,
      senderWallet: attacker.wallet,
      tokenSymbol: token.symbol,
      tipAmount,
    }
    return { signature, claims: [claim], tip: { recipients: [wallet], mint: token.mint } }
  },
  'A9: one signature for several creators': (setup, random) => {
    const { signature, claim, tip } = honest(setup, random)
    const others = setup.creators.map(({ wallet }) => ({ ...claim, creatorWallet: wallet, message: null }))
    return {
      signature,
      claims: random.below(2) === 0 ? [...others, claim, claim] : [claim, ...others, claim],
      tip,
    }
  },
  'A10: one transaction that pays two creators': ({ supporter, creators }, random) => {
    const token = random.pick([sol, usdc])
    const pair = [creators[0].wallet, creators[random.pick([1, 2])]?.wallet ?? '']
    const signature = supporter.send(
      pair.flatMap((wallet) => transfer(token, supporter.wallet, wallet, someUnits())),
    )
    const claims = pair.map((creatorWallet) => ({
      creatorWallet,
      senderWallet: supporter.wallet,
      tokenSymbol: token.symbol,
    }))
    return {
      signature,
      claims: random.below(2) === 0 ? claims : claims.reverse(),
      tip: { recipients: pair, mint: token.mint },
    }
  },
  'A11: a tip to oneself': ({ insider, attacker }, random) => {
    const token = random.pick([sol, usdc])
    const { wallet, keypair } = insider
    const claim = { creatorWallet: wallet, senderWallet: wallet, tokenSymbol: token.symbol }
    const way = random.below(3)
    if (way === 0)
      return { signature: insider.send(transfer(token, wallet, wallet, someUnits())), claims: [claim] }
    // A second wallet of the creator pays, and the creator signs too.
    const paid = transfer(token, attacker.wallet, wallet, someUnits())
    const signature =
      way === 1
        ? attacker.send([...paid, ...transfer(sol, wallet, attacker.wallet, 1)], { signers: [keypair] })
        : insider.send(paid, { signers: [attacker.keypair] })
    return { signature, claims: [claim, { ...claim, senderWallet: attacker.wallet }] }
  },
  'A12: a transfer between wallets of one owner': ({ insider, attacker }, random) => {
    const token = random.pick([sol, usdc])
    const signature = attacker.send(transfer(token, attacker.wallet, insider.wallet, someUnits()))
    const claim = { creatorWallet: insider.wallet, senderWallet: attacker.wallet, tokenSymbol: token.symbol }
    return { signature, claims: [claim, claim], tip: { recipients: [insider.wallet], mint: token.mint } }
  },
  'A30: programs and token accounts as creators': (setup, random) => {
    const { signature, claim, tip, wallet } = honest(setup, random)
    const account = associatedAccount(wallet, usdc.mint).toBase58()
    const creatorWallet = random.pick([
      account,
      '11111111111111111111111111111111',
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      usdc.mint,
    ])
    if (random.below(2) === 0) return { signature, claims: [{ ...claim, creatorWallet }], tip }
    // Lamports sent to the creator's token account do not belong to the creator's wallet.
    const toAccount = setup.attacker.send(transfer(sol, setup.attacker.wallet, account, someUnits()))
    return { signature: toAccount, claims: [{ creatorWallet: wallet, senderWallet: setup.attacker.wallet }] }
  },
  'A31: amounts in the units of another token': (setup, random) => {
    const { signature, claim, tip, units } = honest(setup, random)
    const tipAmount = random.pick([units * 1000, Math.ceil(units / 1000), units * 10 ** 6, units + 2])
    const tokenSymbol = random.pick([claim.tokenSymbol, claim.tokenSymbol.toLowerCase()])
    return { signature, claims: [{ ...claim, tipAmount, tokenSymbol }], tip }
  },
  'A36: a flood of claims': (setup, random) => {
    const { signature, claim, tip } = honest(setup, random)
    const flood = Array.from({ length: 12 }, (_, index) => ({
      ...claim,
      senderWallet: unusedWallet(),
      message: `flood ${index}`,
    }))
    return { signature, claims: [...flood, claim], tip: { ...tip, message: null } }
  },
  'A37: a wallet that changes between intent and tip': async ({ world, supporter, creators }, random) => {
    const { user } = creators[2]
    const former = unusedWallet()
    const { public_key: present } = await world.db('wallets').where({ user_id: user.id }).first()
    await world.db('wallets').where({ user_id: user.id }).update({ public_key: former })
    const fields = { creatorId: former, inputTokenMint: solMint, sourceWalletAddress: supporter.wallet }
    const intent = await createIntent(world.request, { ...fields, amount: someUnits() / 1e6 })
    await world.db('wallets').where({ user_id: user.id }).update({ public_key: present })
    const claim = { creatorWallet: present, senderWallet: supporter.wallet }
    if (random.below(2) === 0) {
      const signature = supporter.pay(intent.transaction)
      return { signature, claims: [claim], tip: { recipients: [former], mint: solMint } }
    }
    const signature = supporter.send(transfer(sol, supporter.wallet, former, someUnits()))
    return { signature, claims: [claim] }
  },
}

for (const [name, attack] of Object.entries(attacks))
  test.serial(`${name}: no false tip is confirmed or credited`, async (t) =>
    runAttack(t, await sharedSetup(), attack),
  )

test.serial('A36: many claims cost one transaction call per tip and leave at most five', async (t) => {
  const { attacker, creators } = await sharedSetup()
  const { calls } = world().sandbox
  const before = calls.of('getTransaction')
  const cases: AttackCase[] = []
  await runAttack(t, await sharedSetup(), () => {
    const { wallet } = creators[0]
    const signature = attacker.send(transfer(sol, attacker.wallet, wallet, someUnits()))
    const claims = Array.from({ length: 15 }, () => ({
      creatorWallet: unusedWallet(),
      senderWallet: attacker.wallet,
    }))
    const attackCase = { signature, claims, tip: { recipients: [wallet], mint: solMint } }
    cases.push(attackCase)
    return attackCase
  })
  t.true(calls.of('getTransaction') - before <= cases.length)
  const rows = await world()
    .db('tips')
    .whereIn(
      'id',
      cases.map(({ signature }) => signature),
    )
  t.true(rows.every(({ claim_count: count }) => count <= 5))
})
