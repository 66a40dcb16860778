import { PublicKey } from '@solana/web3.js'
import test from 'ava'
import { solMint } from '../../src/kernel/tokens.js'
import { issueIntent } from '../helpers/make/intents.js'
import { strangerWallet } from '../helpers/make/supporter.js'
import { useWorld } from '../helpers/servers/world.js'
import { type Move, type Play, playAll } from './corpus.js'
import type { Dice } from './dice.js'
import { associatedAccount, bonk, openScene, type Scene, sol, someUnits, transfer, usdc } from './scene.js'

const world = useWorld(test, { chain: true, slotMs: 100 })
let opened: Promise<Scene> | undefined
const scene = (): Promise<Scene> => {
  opened ??= openScene(world())
  return opened
}

/** A true tip to a creator, in a token of chance, and the true claim to it. */
function honest({ creators, supporter }: Scene, dice: Dice) {
  const { wallet } = dice.pick(creators)
  const token = dice.pick([sol, usdc, bonk])
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

const attacks: Record<string, Play> = {
  'A1: the payment of somebody else': (scene, dice) => {
    const { attacker, creators, insider, treasury, supporter } = scene
    const senderWallet = dice.pick([
      attacker.wallet,
      strangerWallet(),
      creators[1].wallet,
      insider.wallet,
      treasury,
    ])
    const lie = { senderWallet, message: 'mine' }
    if (dice.roll(2) === 0) {
      const { signature, claim, tip } = honest(scene, dice)
      return { signature, claims: [{ ...claim, ...lie }], tip: { ...tip, message: null } }
    }
    const stranger = strangerWallet()
    const signature = supporter.send(transfer(sol, supporter.wallet, stranger, someUnits()))
    return { signature, claims: [{ creatorWallet: stranger, ...lie }] }
  },
  'A2: a false claim first, the true one later': (scene, dice) => {
    const { signature, claim, tip } = honest(scene, dice)
    const lies = [
      { creatorWallet: strangerWallet() },
      { creatorWallet: scene.attacker.wallet },
      { creatorWallet: scene.treasury },
      { senderWallet: scene.attacker.wallet },
      { tokenSymbol: 'USDT' },
      { tokenSymbol: 'SCAM' },
      { creatorWallet: claim.senderWallet, senderWallet: claim.creatorWallet },
    ]
    const told = Array.from({ length: 1 + dice.roll(4) }, (_, index) => ({
      ...claim,
      ...dice.pick(lies),
      message: `lie ${index}`,
    }))
    return { signature, claims: [...told, { ...claim, message: 'truth' }], tip: { ...tip, message: 'truth' } }
  },
  'A3: an abusive message on true facts': async (scene, dice) => {
    const { supporter, creators } = scene
    const creatorId = dice.pick(creators).wallet
    const asked = { creatorId, inputTokenMint: usdc.mint, sourceWalletAddress: supporter.wallet }
    const intent = await issueIntent(world().request, { ...asked, amount: someUnits() / 1e6 })
    const signature = supporter.pay(intent.transaction)
    const claim = { creatorWallet: creatorId, senderWallet: supporter.wallet, tokenSymbol: 'USDC' }
    const abuse = Array.from({ length: 1 + dice.roll(3) }, (_, index) => ({
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
  'A4: paid to an own wallet, with a star named': ({ attacker, creators }, dice) => {
    const star = dice.pick(creators)
    const token = dice.pick([sol, usdc, bonk])
    const instructions = transfer(token, attacker.wallet, strangerWallet(), someUnits())
    instructions.at(-1)?.keys.push({ pubkey: new PublicKey(star.wallet), isSigner: false, isWritable: false })
    const signature = attacker.send(instructions)
    const claim = { creatorWallet: star.wallet, senderWallet: attacker.wallet, tokenSymbol: token.symbol }
    return { signature, claims: [claim, { ...claim, tipAmount: 9_000_000 }] }
  },
  'A7: a tiny transfer with a huge claim': ({ attacker, creators }, dice, variant) => {
    const { wallet } = dice.pick(creators)
    const token = dice.pick([sol, usdc, bonk])
    const signature = attacker.send(transfer(token, attacker.wallet, wallet, 1 + variant))
    const tipAmount = dice.pick([Number.MAX_SAFE_INTEGER, 10 ** 15, 1_000_000_000])
    const claim = {
      creatorWallet: wallet,
      senderWallet: attacker.wallet,
      tokenSymbol: token.symbol,
      tipAmount,
    }
    return { signature, claims: [claim], tip: { recipients: [wallet], mint: token.mint } }
  },
  'A9: one signature for several creators': (scene, dice) => {
    const { signature, claim, tip } = honest(scene, dice)
    const others = scene.creators.map(({ wallet }) => ({ ...claim, creatorWallet: wallet, message: null }))
    return {
      signature,
      claims: dice.roll(2) === 0 ? [...others, claim, claim] : [claim, ...others, claim],
      tip,
    }
  },
  'A10: one transaction that pays two creators': ({ supporter, creators }, dice) => {
    const token = dice.pick([sol, usdc])
    const pair = [creators[0].wallet, creators[dice.pick([1, 2])]?.wallet ?? '']
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
      claims: dice.roll(2) === 0 ? claims : claims.reverse(),
      tip: { recipients: pair, mint: token.mint },
    }
  },
  'A11: a tip to oneself': ({ insider, attacker }, dice) => {
    const token = dice.pick([sol, usdc])
    const { wallet, keypair } = insider
    const claim = { creatorWallet: wallet, senderWallet: wallet, tokenSymbol: token.symbol }
    const way = dice.roll(3)
    if (way === 0)
      return { signature: insider.send(transfer(token, wallet, wallet, someUnits())), claims: [claim] }
    // A vault of the own pays, and the creator signs beside it.
    const paid = transfer(token, attacker.wallet, wallet, someUnits())
    const signature =
      way === 1
        ? attacker.send([...paid, ...transfer(sol, wallet, attacker.wallet, 1)], { signers: [keypair] })
        : insider.send(paid, { signers: [attacker.keypair] })
    return { signature, claims: [claim, { ...claim, senderWallet: attacker.wallet }] }
  },
  'A12: money moved between own wallets': ({ insider, attacker }, dice) => {
    const token = dice.pick([sol, usdc])
    const signature = attacker.send(transfer(token, attacker.wallet, insider.wallet, someUnits()))
    const claim = { creatorWallet: insider.wallet, senderWallet: attacker.wallet, tokenSymbol: token.symbol }
    return { signature, claims: [claim, claim], tip: { recipients: [insider.wallet], mint: token.mint } }
  },
  'A30: programs and token accounts as creators': (scene, dice) => {
    const { signature, claim, tip, wallet } = honest(scene, dice)
    const account = associatedAccount(wallet, usdc.mint).toBase58()
    const creatorWallet = dice.pick([
      account,
      '11111111111111111111111111111111',
      'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA',
      usdc.mint,
    ])
    if (dice.roll(2) === 0) return { signature, claims: [{ ...claim, creatorWallet }], tip }
    // Lamports sent to the token account are the creator's neither.
    const aside = scene.attacker.send(transfer(sol, scene.attacker.wallet, account, someUnits()))
    return { signature: aside, claims: [{ creatorWallet: wallet, senderWallet: scene.attacker.wallet }] }
  },
  'A31: amounts in the units of another token': (scene, dice) => {
    const { signature, claim, tip, units } = honest(scene, dice)
    const tipAmount = dice.pick([units * 1000, Math.ceil(units / 1000), units * 10 ** 6, units + 2])
    const tokenSymbol = dice.pick([claim.tokenSymbol, claim.tokenSymbol.toLowerCase()])
    return { signature, claims: [{ ...claim, tipAmount, tokenSymbol }], tip }
  },
  'A36: a flood of claims': (scene, dice) => {
    const { signature, claim, tip } = honest(scene, dice)
    const flood = Array.from({ length: 12 }, (_, index) => ({
      ...claim,
      senderWallet: strangerWallet(),
      message: `flood ${index}`,
    }))
    return { signature, claims: [...flood, claim], tip: { ...tip, message: null } }
  },
  'A37: a wallet that changes between intent and tip': async ({ world, supporter, creators }, dice) => {
    const { user } = creators[2]
    const former = strangerWallet()
    const { public_key: present } = await world.db('wallets').where({ user_id: user.id }).first()
    await world.db('wallets').where({ user_id: user.id }).update({ public_key: former })
    const asked = { creatorId: former, inputTokenMint: solMint, sourceWalletAddress: supporter.wallet }
    const intent = await issueIntent(world.request, { ...asked, amount: someUnits() / 1e6 })
    await world.db('wallets').where({ user_id: user.id }).update({ public_key: present })
    const claim = { creatorWallet: present, senderWallet: supporter.wallet }
    if (dice.roll(2) === 0) {
      const signature = supporter.pay(intent.transaction)
      return { signature, claims: [claim], tip: { recipients: [former], mint: solMint } }
    }
    const signature = supporter.send(transfer(sol, supporter.wallet, former, someUnits()))
    return { signature, claims: [claim] }
  },
}

for (const [name, play] of Object.entries(attacks))
  test.serial(`${name}: nothing false is confirmed or credited`, async (t) => playAll(t, await scene(), play))

test.serial(
  'A36: a flood costs no more calls than the tips it is about, and leaves five claims at most',
  async (t) => {
    const { attacker, creators } = await scene()
    const { calls } = world().sandbox
    const before = calls.of('getTransaction')
    const moves: Move[] = []
    await playAll(t, await scene(), () => {
      const { wallet } = creators[0]
      const signature = attacker.send(transfer(sol, attacker.wallet, wallet, someUnits()))
      const claims = Array.from({ length: 15 }, () => ({
        creatorWallet: strangerWallet(),
        senderWallet: attacker.wallet,
      }))
      const move = { signature, claims, tip: { recipients: [wallet], mint: solMint } }
      moves.push(move)
      return move
    })
    t.true(calls.of('getTransaction') - before <= moves.length)
    const rows = await world()
      .db('tips')
      .whereIn(
        'id',
        moves.map(({ signature }) => signature),
      )
    t.true(rows.every(({ claim_count: count }) => count <= 5))
  },
)
