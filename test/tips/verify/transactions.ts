import { createHash } from 'node:crypto'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import { solMint, type Token, tokenBySymbol } from '../../../src/kernel/tokens.js'
import type { ChainTransaction, TokenChange } from '../../../src/ports/chain.js'
import { associatedAccount } from '../../../src/providers/solana/build-transfer.js'
import type { Claim } from '../../../src/tips/record/claim.js'
import {
  type MatchableIntent,
  type MatchInput,
  matchTip,
  type TipFacts,
} from '../../../src/tips/verify/match-tip.js'

/** The wallet with this name, the same in every run. */
export function wallet(name: string): string {
  return encodeBase58(createHash('sha256').update(name).digest())
}

export const supporter = wallet('supporter')
export const creator = wallet('creator')
export const otherCreator = wallet('other creator')
export const stranger = wallet('stranger')
export const treasury = wallet('treasury')

export const sol = tokenBySymbol('SOL') as Token
export const usdc = tokenBySymbol('USDC') as Token
export const bonk = tokenBySymbol('BONK') as Token

/** Lamports that a token account must hold to exist. */
export const tokenRent = 2_039_280n
const networkFee = 5000n
export const landedAt = new Date('2026-01-02T03:04:05Z')

const known = new Map<string, string>()
/** Cached: deriving an address takes 0.3 ms. */
function cachedAssociatedAccount(owner: string, mint: string): string {
  const key = `${owner} ${mint}`
  const account = known.get(key) ?? associatedAccount(owner, mint)
  known.set(key, account)
  return account
}
export const chain = { associatedAccount: cachedAssociatedAccount }

/** Builds a landed transaction from its transfers, as the balance changes it causes. */
export class Landed {
  readonly #lamports = new Map<string, bigint>()
  readonly #tokens = new Map<string, TokenChange>()
  readonly #signers: readonly string[]
  readonly #accounts: Set<string>
  #blockTime: Date | undefined = landedAt
  #networkFee = networkFee
  #messageHash = ''

  /** The first signer pays the network fee. */
  constructor(...signers: [string, ...string[]]) {
    this.#signers = signers
    this.#accounts = new Set(signers)
  }

  /** Accounts the transaction only names: reference keys, programs. */
  naming(...accounts: string[]): this {
    for (const account of accounts) this.#accounts.add(account)
    return this
  }

  at(blockTime: Date | undefined): this {
    this.#blockTime = blockTime
    return this
  }

  /** The hash of its message. */
  hashed(messageHash: string): this {
    this.#messageHash = messageHash
    return this
  }

  priority(lamports: bigint): this {
    this.#networkFee = networkFee + lamports
    return this
  }

  lamports(account: string, change: bigint): this {
    this.#accounts.add(account)
    this.#lamports.set(account, (this.#lamports.get(account) ?? 0n) + change)
    return this
  }

  /** Moves a token between the associated accounts of two wallets, or SOL between the wallets. */
  pay(token: Token, from: string, to: string, units: bigint, received = units): this {
    if (token.mint === solMint) return this.lamports(from, -units).lamports(to, received)
    return this.#move(token.mint, from, -units).#move(token.mint, to, received)
  }

  /** Like `pay`, into a new account of the recipient, whose rent `payer` pays. */
  payNewAccount(token: Token, from: string, to: string, units: bigint, payer = from): this {
    const account = cachedAssociatedAccount(to, token.mint)
    return this.pay(token, from, to, units)
      .change({ account, ownerBefore: undefined })
      .lamports(payer, -tokenRent)
      .lamports(account, tokenRent)
  }

  /** Changes fields of a token account. Other fields keep their value or the default. */
  change(change: Pick<TokenChange, 'account'> & Partial<TokenChange>): this {
    this.#accounts.add(change.account)
    const usual = { mint: usdc.mint, ownerBefore: undefined, ownerAfter: undefined, classic: true, delta: 0n }
    this.#tokens.set(change.account, { ...usual, ...this.#tokens.get(change.account), ...change })
    return this
  }

  build(): ChainTransaction {
    const [feePayer = ''] = this.#signers
    const lamports = new Map(this.#lamports)
    lamports.set(feePayer, (lamports.get(feePayer) ?? 0n) - this.#networkFee)
    return {
      signature: encodeBase58(new Uint8Array(64).fill(7)),
      messageHash: this.#messageHash,
      failed: false,
      slot: 1000n,
      blockTime: this.#blockTime,
      accounts: this.#accounts,
      signers: new Set(this.#signers),
      feePayer,
      networkFee: this.#networkFee,
      lamports: new Map([...lamports].filter(([, change]) => change !== 0n)),
      tokens: [...this.#tokens.values()],
    }
  }

  #move(mint: string, owner: string, delta: bigint): this {
    const account = cachedAssociatedAccount(owner, mint)
    const before = this.#tokens.get(account)
    const owners = before ?? { ownerBefore: owner, ownerAfter: owner }
    this.#accounts.add(owner)
    return this.change({ ...owners, account, mint, delta: (before?.delta ?? 0n) + delta })
  }
}

/** The supporter's claim of a SOL tip to the creator, with changes. */
export function claim(change: Partial<Claim> = {}): Claim {
  return {
    creatorWallet: creator,
    sender: supporter,
    amount: '1',
    tokenSymbol: 'SOL',
    message: null,
    intentId: null,
    ...change,
  }
}

export const referenceKey = wallet('reference key')
export function intent(change: Partial<MatchableIntent> = {}): MatchableIntent {
  // A direct transfer unless both mints are given.
  const inputMint = change.inputMint ?? change.outputMint ?? solMint
  return {
    id: 'pi_1',
    payoutWallet: creator,
    sourceWallet: supporter,
    outputMint: solMint,
    inputMint,
    leastRaw: 1n,
    message: null,
    isCertain: true,
    ...change,
  }
}

/** The tip of a transaction. By default the creators are registered and the transaction is recent. */
export function match(landed: Landed, input: Partial<MatchInput> = {}): TipFacts | undefined {
  return matchTip(chain, {
    transaction: landed.build(),
    intents: [],
    claims: [],
    creators: new Set([creator, otherCreator]),
    prices: new Map([
      [sol.mint, '150'],
      [bonk.mint, '0.00002'],
    ]),
    treasury,
    notBefore: new Date(0),
    ...input,
  })
}
