import {
  AuthorityType,
  createApproveInstruction,
  createAssociatedTokenAccountIdempotentInstruction,
  createCloseAccountInstruction,
  createInitializeAccount3Instruction,
  createInitializeMint2Instruction,
  createInitializeTransferFeeConfigInstruction,
  createMintToInstruction,
  createSetAuthorityInstruction,
  createSyncNativeInstruction,
  createTransferCheckedInstruction,
  ExtensionType,
  getAssociatedTokenAddressSync,
  getMintLen,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token'
import { Keypair, PublicKey, SystemProgram, type TransactionInstruction } from '@solana/web3.js'
import test from 'ava'
import { mintTokens, requestAirdrop } from '../../scripts/sandbox/chain/faucet.js'
import { messageHash } from '../../src/kernel/wire-transaction.js'
import { createSupporter, type Supporter, unusedWallet } from '../helpers/make/supporter.js'
import { useWorld } from '../helpers/servers/world.js'
import { createLookupTable } from './lookup-table.js'
import { type Attack, runAttack } from './run-attack.js'
import {
  type AttackSetup,
  associatedAccount,
  shareAttackSetup,
  sol,
  someUnits,
  transfer,
  usdc,
} from './setup.js'
import { insertSwapIntent } from './swap-intent.js'

const world = useWorld(test, { chain: true })
const sharedSetup = shareAttackSetup(world)

const key = (wallet: string): PublicKey => new PublicKey(wallet)
const accountBytes = 165
const accountRent = 2_039_280

/** Opens a token account that is not the associated one. */
function openOtherAccount(
  payer: Supporter,
  owner: string,
  mint: string,
): { account: Keypair; open: TransactionInstruction[] } {
  const account = Keypair.generate()
  const made = SystemProgram.createAccount({
    fromPubkey: payer.keypair.publicKey,
    newAccountPubkey: account.publicKey,
    lamports: accountRent,
    space: accountBytes,
    programId: TOKEN_PROGRAM_ID,
  })
  return {
    account,
    open: [made, createInitializeAccount3Instruction(account.publicKey, key(mint), key(owner))],
  }
}

/** Transfers USDC of `from` into a token account, signed by `authority`. */
function fill(account: PublicKey, from: string, authority: string, units: number): TransactionInstruction {
  return createTransferCheckedInstruction(
    associatedAccount(from, usdc.mint),
    key(usdc.mint),
    account,
    key(authority),
    units,
    usdc.decimals,
  )
}

/** Transfers USDC of `from` to the wallet `to`, signed by `authority`. */
function pull(from: string, to: string, authority: string, units: number): TransactionInstruction {
  return fill(associatedAccount(to, usdc.mint), from, authority, units)
}

/** Creates a mint of the attacker in a token program, with accounts of the attacker and the recipient, and a payment. */
function ownMint({ attacker }: AttackSetup, recipient: string, program: PublicKey, feeBps?: number) {
  const mint = Keypair.generate()
  const own = attacker.keypair.publicKey
  const extensions = feeBps === undefined ? [] : [ExtensionType.TransferFeeConfig]
  const space = getMintLen(extensions)
  const accountOf = (owner: PublicKey): PublicKey =>
    getAssociatedTokenAddressSync(mint.publicKey, owner, true, program)
  const open = (owner: PublicKey) =>
    createAssociatedTokenAccountIdempotentInstruction(own, accountOf(owner), owner, mint.publicKey, program)
  attacker.send(
    [
      SystemProgram.createAccount({
        fromPubkey: own,
        newAccountPubkey: mint.publicKey,
        lamports: 10_000_000,
        space,
        programId: program,
      }),
      ...(feeBps === undefined
        ? []
        : [
            createInitializeTransferFeeConfigInstruction(
              mint.publicKey,
              own,
              own,
              feeBps,
              10n ** 12n,
              program,
            ),
          ]),
      createInitializeMint2Instruction(mint.publicKey, usdc.decimals, own, own, program),
      open(own),
      open(key(recipient)),
      createMintToInstruction(mint.publicKey, accountOf(own), own, 10n ** 12n, [], program),
    ],
    { signers: [mint] },
  )
  const pay = (units: number) =>
    createTransferCheckedInstruction(
      accountOf(own),
      mint.publicKey,
      accountOf(key(recipient)),
      own,
      units,
      usdc.decimals,
      [],
      program,
    )
  return { mint: mint.publicKey.toBase58(), pay }
}

function claimed(sender: string, creatorWallet: string, tipAmount: number, tokenSymbol = 'USDC') {
  return { creatorWallet, senderWallet: sender, tipAmount, tokenSymbol }
}

const attacks: Record<string, Attack> = {
  'A5: a mint that calls itself USDC': (setup, random) => {
    const { wallet } = random.pick(setup.creators)
    const units = someUnits()
    const { mint, pay } = ownMint(setup, wallet, TOKEN_PROGRAM_ID)
    const { attacker } = setup
    return {
      signature: attacker.send([pay(units)]),
      claims: ['USDC', 'usdc', mint.slice(0, 20)].map((symbol) =>
        claimed(attacker.wallet, wallet, units, symbol),
      ),
    }
  },
  'A6: a transaction that failed': ({ attacker, creators }, random) => {
    const { wallet } = random.pick(creators)
    const token = random.pick([sol, usdc])
    const units = someUnits()
    const tooMuch = transfer(random.pick([sol, usdc]), attacker.wallet, wallet, 10n ** 15n)
    const parts = [...transfer(token, attacker.wallet, wallet, units), ...tooMuch]
    const signature = attacker.send(parts, { skipPreflight: true })
    return { signature, claims: [claimed(attacker.wallet, wallet, units, token.symbol)] }
  },
  'A13: paid and pulled back by a creator who signs': ({ attacker, insider }, random) => {
    const units = someUnits()
    const back = random.pick([units, units, Math.floor(units / 2)])
    const parts = [
      ...transfer(usdc, attacker.wallet, insider.wallet, units),
      pull(insider.wallet, attacker.wallet, insider.wallet, back),
    ]
    return {
      signature: attacker.send(parts, { signers: [insider.keypair] }),
      claims: [claimed(attacker.wallet, insider.wallet, units)],
    }
  },
  'A13: paid and pulled back by a delegate': ({ attacker, insider }, random) => {
    const units = someUnits()
    const approve = createApproveInstruction(
      associatedAccount(insider.wallet, usdc.mint),
      attacker.keypair.publicKey,
      insider.keypair.publicKey,
      10 ** 12,
    )
    insider.send([approve, ...transfer(sol, insider.wallet, unusedWallet(), someUnits())])
    const kept = random.pick([0, 0, 1000])
    const parts = [
      ...transfer(usdc, attacker.wallet, insider.wallet, units),
      pull(insider.wallet, attacker.wallet, attacker.wallet, units - kept),
    ]
    const attackCase = {
      signature: attacker.send(parts),
      claims: [claimed(attacker.wallet, insider.wallet, units)],
    }
    return kept === 0 ? attackCase : { ...attackCase, tip: { recipients: [insider.wallet], mint: usdc.mint } }
  },
  'A14: paid by inner instructions only, or undone by later ones': (
    { attacker, insider, creators },
    random,
  ) => {
    if (random.below(2) === 0) {
      // Opening a token account pays its rent by an inner transfer. The rent belongs to the account, not to the creator.
      const { wallet } = random.pick(creators)
      const { mint } = ownMint({ attacker } as AttackSetup, unusedWallet(), TOKEN_PROGRAM_ID)
      const account = associatedAccount(wallet, mint)
      const signature = attacker.send([
        createAssociatedTokenAccountIdempotentInstruction(
          attacker.keypair.publicKey,
          account,
          key(wallet),
          key(mint),
        ),
      ])
      return { signature, claims: [claimed(attacker.wallet, wallet, accountRent, 'SOL')] }
    }
    const units = someUnits()
    const there = transfer(usdc, attacker.wallet, insider.wallet, units)
    const parts = [
      ...there,
      pull(insider.wallet, attacker.wallet, insider.wallet, units),
      ...there,
      pull(insider.wallet, attacker.wallet, insider.wallet, units),
    ]
    return {
      signature: attacker.send(parts, { signers: [insider.keypair] }),
      claims: [claimed(attacker.wallet, insider.wallet, units)],
    }
  },
  'A15: a recipient that stands only in a lookup table': async ({ attacker, creators }, random) => {
    const { wallet } = random.pick(creators)
    const token = random.pick([sol, usdc])
    const units = someUnits()
    const table = await createLookupTable(world(), attacker, [
      wallet,
      associatedAccount(wallet, usdc.mint).toBase58(),
    ])
    const signature = attacker.send(transfer(token, attacker.wallet, wallet, units), { tables: [table] })
    const lie = claimed(attacker.wallet, random.pick([attacker.wallet, unusedWallet()]), units, token.symbol)
    return {
      signature,
      claims: random.below(2) === 0 ? [lie] : [lie, claimed(attacker.wallet, wallet, units, token.symbol)],
      tip: { recipients: [wallet], mint: token.mint },
    }
  },
  'A17, A18: a token of the other token program, with and without a fee on transfer': (setup, random) => {
    const { wallet } = random.pick(setup.creators)
    const units = someUnits()
    const { pay } = ownMint(setup, wallet, TOKEN_2022_PROGRAM_ID, random.pick([undefined, 300]))
    const { attacker } = setup
    return { signature: attacker.send([pay(units)]), claims: [claimed(attacker.wallet, wallet, units)] }
  },
  'A19: a token account handed over': ({ attacker, creators }, random) => {
    const { wallet } = random.pick(creators)
    const units = someUnits()
    const { account, open } = openOtherAccount(attacker, attacker.wallet, usdc.mint)
    const filled = fill(account.publicKey, attacker.wallet, attacker.wallet, units)
    const give = createSetAuthorityInstruction(
      account.publicKey,
      attacker.keypair.publicKey,
      AuthorityType.AccountOwner,
      key(wallet),
    )
    if (random.below(2) === 0)
      return {
        signature: attacker.send([...open, filled, give], { signers: [account] }),
        claims: [claimed(attacker.wallet, wallet, units)],
      }
    attacker.send([...open, filled], { signers: [account] })
    return { signature: attacker.send([give]), claims: [claimed(attacker.wallet, wallet, units)] }
  },
  'A20: a token account made or closed in the transaction': ({ attacker }, random) => {
    const units = someUnits()
    const holder = createSupporter(world().sandbox)
    const paid = transfer(usdc, attacker.wallet, holder.wallet, units)
    const claims = [claimed(attacker.wallet, holder.wallet, units)]
    if (random.below(2) === 0)
      return { signature: attacker.send(paid), claims, tip: { recipients: [holder.wallet], mint: usdc.mint } }
    const close = createCloseAccountInstruction(
      associatedAccount(holder.wallet, usdc.mint),
      attacker.keypair.publicKey,
      holder.keypair.publicKey,
    )
    const parts = [...paid, pull(holder.wallet, attacker.wallet, holder.wallet, units), close]
    return { signature: attacker.send(parts, { signers: [holder.keypair] }), claims }
  },
  'A21: rent or wrapped SOL set free into the creator’s wallet': ({ attacker, creators }, random) => {
    const { wallet } = random.pick(creators)
    const units = someUnits()
    const wrapped = random.below(2) === 0
    const { account, open } = openOtherAccount(attacker, attacker.wallet, wrapped ? sol.mint : usdc.mint)
    const wrap = [
      SystemProgram.transfer({
        fromPubkey: attacker.keypair.publicKey,
        toPubkey: account.publicKey,
        lamports: units,
      }),
      createSyncNativeInstruction(account.publicKey),
    ]
    attacker.send([...open, ...(wrapped ? wrap : [])], { signers: [account] })
    const signature = attacker.send([
      createCloseAccountInstruction(account.publicKey, key(wallet), attacker.keypair.publicKey),
    ])
    const claims = [claimed(attacker.wallet, wallet, accountRent + (wrapped ? units : 0), 'SOL')]
    // The attacker's own SOL is a gift like any other; the rent of a token account is nobody's payment.
    return wrapped
      ? { signature, claims, tip: { recipients: [wallet], mint: sol.mint } }
      : { signature, claims }
  },
  'A21: wrapped SOL is SOL': ({ attacker, creators }, random) => {
    const { wallet } = random.pick(creators)
    const units = someUnits()
    const own = attacker.keypair.publicKey
    const [from, to] = [associatedAccount(attacker.wallet, sol.mint), associatedAccount(wallet, sol.mint)]
    const open = (account: PublicKey, owner: PublicKey) =>
      createAssociatedTokenAccountIdempotentInstruction(own, account, owner, key(sol.mint))
    const parts = [
      open(from, own),
      open(to, key(wallet)),
      SystemProgram.transfer({ fromPubkey: own, toPubkey: from, lamports: units }),
      createSyncNativeInstruction(from),
      createTransferCheckedInstruction(from, key(sol.mint), to, own, units, sol.decimals),
    ]
    const tip = { recipients: [wallet], mint: sol.mint }
    return { signature: attacker.send(parts), claims: [claimed(attacker.wallet, wallet, units, 'SOL')], tip }
  },
  'A22: SOL below the rent of an unfunded wallet': ({ attacker }, _dice, variant) => {
    const wallet = unusedWallet()
    const lamports = 890_879 - variant
    const signature = attacker.send(transfer(sol, attacker.wallet, wallet, lamports), { skipPreflight: true })
    return { signature, claims: [claimed(attacker.wallet, wallet, lamports, 'SOL')] }
  },
  'A23: a recipient who signs or pays the network fee': ({ attacker, insider }, random) => {
    const token = random.pick([sol, usdc])
    const units = someUnits()
    const paid = transfer(token, attacker.wallet, insider.wallet, units)
    const claims = [claimed(attacker.wallet, insider.wallet, units, token.symbol)]
    if (random.below(2) === 0)
      return { signature: insider.send(paid, { signers: [attacker.keypair] }), claims }
    const nod = transfer(sol, insider.wallet, attacker.wallet, 1)
    return { signature: attacker.send([...paid, ...nod], { signers: [insider.keypair] }), claims }
  },
  'A24: several token accounts of one owner': ({ attacker, creators }, random) => {
    const { wallet } = random.pick(creators)
    const units = someUnits()
    const { account, open } = openOtherAccount(attacker, wallet, usdc.mint)
    const aside = fill(account.publicKey, attacker.wallet, attacker.wallet, units)
    const both = random.below(2) === 0
    const parts = [...open, aside, ...(both ? transfer(usdc, attacker.wallet, wallet, 1000) : [])]
    const attackCase = {
      signature: attacker.send(parts, { signers: [account] }),
      claims: [claimed(attacker.wallet, wallet, units + 1000)],
    }
    return both ? { ...attackCase, tip: { recipients: [wallet], mint: usdc.mint } } : attackCase
  },
  'A32: balances that JSON cannot carry': ({ creators }, random) => {
    const { chain } = world().sandbox
    const whale = createSupporter(world().sandbox)
    const { wallet } = random.pick(creators)
    const lamports = 2n ** 53n + BigInt(1 + random.below(10 ** 6))
    chain.setAccount(whale.wallet, {
      lamports,
      owner: SystemProgram.programId.toBase58(),
      data: Buffer.alloc(0),
      executable: false,
    })
    const units = someUnits()
    const signature = whale.send(transfer(sol, whale.wallet, wallet, units))
    return { signature, claims: [claimed(whale.wallet, wallet, units, 'SOL')], waits: true }
  },
  'A34: another token than the intent’s, claimed as the intent’s': async (setup, random) => {
    const { attacker, creators } = setup
    const { wallet } = random.pick(creators)
    const units = someUnits()
    const { referenceKey, id } = await insertSwapIntent(world(), {
      sender: attacker.wallet,
      recipient: wallet,
      input: sol,
      output: usdc,
      units,
    })
    const marked = (parts: TransactionInstruction[]): TransactionInstruction[] => {
      parts.at(-1)?.keys.push({ pubkey: key(referenceKey), isSigner: false, isWritable: false })
      return parts
    }
    const claims = [{ ...claimed(attacker.wallet, wallet, units), intentId: id }]
    // The input token goes to another wallet, or unswapped to the creator: then it is a tip in that token.
    const way = random.below(3)
    if (way === 0)
      return {
        signature: attacker.send(marked(transfer(sol, attacker.wallet, unusedWallet(), units))),
        claims,
      }
    if (way === 1)
      return {
        signature: attacker.send(marked(transfer(sol, attacker.wallet, wallet, units))),
        claims,
        tip: { recipients: [wallet], mint: sol.mint },
      }
    const fake = ownMint(setup, wallet, TOKEN_PROGRAM_ID)
    return {
      signature: attacker.send(
        marked([...transfer(sol, attacker.wallet, unusedWallet(), units), fake.pay(units)]),
      ),
      claims,
    }
  },
  'A34: a swap that delivers, by reference key or by message hash, is the intent’s tip': async (
    { supporter, creators },
    random,
  ) => {
    const { wallet } = random.pick(creators)
    const units = someUnits()
    const maker = createSupporter(world().sandbox, ['USDC'])
    const parts = [
      ...transfer(sol, supporter.wallet, maker.wallet, units),
      ...transfer(usdc, maker.wallet, wallet, units * 2),
    ]
    const plan = { sender: supporter.wallet, recipient: wallet, input: sol, output: usdc, units }
    const claims = [
      { ...claimed(supporter.wallet, wallet, units, random.pick(['SOL', 'USDC'])), message: 'swapped' },
    ]
    const tip = { recipients: [wallet], mint: usdc.mint, message: 'swapped' }
    if (random.below(2) === 0) {
      const { referenceKey } = await insertSwapIntent(world(), plan)
      parts.at(-1)?.keys.push({ pubkey: key(referenceKey), isSigner: false, isWritable: false })
      return { signature: supporter.send(parts, { signers: [maker.keypair] }), claims, tip }
    }
    const signature = supporter.send(parts, { signers: [maker.keypair] })
    const raw = Buffer.from(world().sandbox.chain.ledger.get(signature)?.raw ?? '', 'base64')
    await insertSwapIntent(world(), { ...plan, messageHash: messageHash(raw) })
    return { signature, claims, tip }
  },
}

for (const [name, attack] of Object.entries(attacks))
  test.serial(`${name}: tips and credits match the chain`, async (t) => {
    const setup = await sharedSetup()
    // Funds for all variants.
    for (const { wallet } of [setup.attacker, setup.supporter, setup.insider]) {
      requestAirdrop(world().sandbox.chain, wallet, 10_000_000_000n)
      mintTokens(world().sandbox.chain, wallet, usdc.mint, 10n ** 10n)
    }
    await runAttack(t, setup, attack)
  })
