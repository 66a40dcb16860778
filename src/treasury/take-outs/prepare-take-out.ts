import type { Knex } from 'knex'
import type { Account } from '../../accounts/account.js'
import { readPayoutWallet } from '../../accounts/payout-wallets/payout-wallet.js'
import { type PresentedStepUp, withStepUp } from '../../accounts/step-up/step-up.js'
import { newReferenceKey } from '../../intents/unsigned-transaction.js'
import { DomainError, inputError } from '../../kernel/errors.js'
import { displayText, unitsOfText } from '../../kernel/money.js'
import { solMint, type Token, tokenByMint, tokens, usdc } from '../../kernel/tokens.js'
import { readBalance } from '../../ledger/accounts.js'
import { countCustody, readCustody, unboundOf } from '../../ledger/custody.js'
import { owesReceivable } from '../../ledger/receivables/read-receivables.js'
import { query } from '../../platform/database/database.js'
import { rentExemptLamports } from '../../ports/chain.js'
import { packetBytes } from '../../ports/custody-chain.js'
import type { Services } from '../../services.js'
import type { TakeableToken } from './schemas.js'
import { hasSigned } from './take-out.js'

type Needs = Pick<Services, 'chain' | 'config' | 'custodyChain' | 'db' | 'transact'>

export interface TokenAmount {
  readonly token: Token
  readonly units: bigint
}

/**
 * Builds the transaction of a take-out and stores it with a step-up. It holds nothing: the rules are checked again when the
 * custodian signs. Returns its id. Throws `payout_wallet_required`, `owes_money`, `transfer_in_progress`,
 * `insufficient_balance`, `invalid_amount`, `transfer_would_fail` and what `withStepUp` throws.
 */
export async function prepareTakeOut(
  services: Needs,
  { id: userId, walletPublicKey }: Pick<Account, 'id' | 'walletPublicKey'>,
  { token, units }: TokenAmount,
  presented: PresentedStepUp,
): Promise<string> {
  const { chain, config, custodyChain, db } = services
  const { mint, decimals } = token
  const payout = await readPayoutWallet(db, userId)
  if (payout === undefined) throw new DomainError('payout_wallet_required')
  if (await owesReceivable(db, userId)) throw new DomainError('owes_money')
  if (await hasSigned(db, { userId, mint })) throw new DomainError('transfer_in_progress')
  await checkAvailable(services, userId, { token, units })
  const from = walletPublicKey ?? ''
  const unwraps = mint === solMint && (await checkRest(services, from, units))

  const referenceKey = newReferenceKey()
  // A person signs this by hand, so it gets all the time there is.
  const { blockhash, lastValidBlockHeight } = await custodyChain.freshBlockhash()
  const message = custodyChain.buildMessage({
    payer: payout.wallet,
    blockhash,
    opensAccounts: mint !== solMint,
    unwraps,
    payments: [{ from, to: payout.wallet, mint, decimals, amount: units, referenceKey }],
  })
  if (custodyChain.sizeOf(message) > packetBytes) throw new Error('a take-out does not fit a packet')
  const simulation = await chain.simulate(custodyChain.unsigned(message))
  if (simulation?.failed !== false)
    throw inputError(
      'transfer_would_fail',
      'amount',
      'the chain would refuse the transfer: the payout wallet needs SOL for the fee and, once for each token, for the rent of its account',
    )

  const site = new URL(config.http.publicUrl).host
  const request = {
    userId,
    bound: ['take-out', mint, units, payout.wallet],
    wish: `take ${displayText(units, decimals)} ${token.symbol} out of your wallet at ${site}, to ${payout.wallet}`,
  }
  return withStepUp(services, request, presented, async ({ trx }) => {
    const [stored] = await query<{ id: string }>(trx, {
      name: 'take-outs.prepare',
      text: /* sql */ `
        insert into wallet_transfers (user_id, mint, amount, payout_wallet, reference_key, message, last_valid_height)
        values ($1, $2, $3, $4, $5, $6, $7) returning id`,
      values: [userId, mint, units, payout.wallet, referenceKey, Buffer.from(message), lastValidBlockHeight],
    })
    if (stored === undefined) throw new Error('The take-out was not stored')
    return stored.id
  })
}

async function checkAvailable({ db }: Needs, userId: string, { token, units }: TokenAmount): Promise<void> {
  const most = await readTakeable(db, userId, token)
  if (units > most)
    throw inputError(
      'insufficient_balance',
      'amount',
      `is above the ${displayText(most, token.decimals)} ${token.symbol} that can be taken out`,
    )
}

/** A wallet without enough SOL to exist would lose the rest, so the chain refuses it. Returns whether some of it is wrapped. */
async function checkRest({ custodyChain }: Needs, wallet: string, units: bigint): Promise<boolean> {
  const [source] = await custodyChain.readSources([{ wallet, mint: solMint }], 'confirmed')
  const rest = (source?.amount ?? 0n) - units
  if (rest <= 0n || rest >= rentExemptLamports) return source?.wrapped === true
  const [all, least] = [source?.amount ?? 0n, rentExemptLamports].map((lamports) => displayText(lamports, 9))
  throw inputError('invalid_amount', 'amount', `must leave nothing of ${all} SOL, or at least ${least} SOL`)
}

/** What a token account can hold at most, and one more. */
const tooMany = 2n ** 64n

/** The token and the amount of a request. Throws `invalid_mint`, `invalid_amount`. */
export function parseTokenAmount(mint: string, amount: string): TokenAmount {
  const token = tokenByMint(mint)
  if (token === undefined) throw new DomainError('invalid_mint')
  const units = unitsOfText(amount, token.decimals)
  if (units === undefined || units === 0n || units >= tooMany)
    throw inputError(
      'invalid_amount',
      'amount',
      `must be a positive decimal text such as "1.5", with at most ${token.decimals} decimals`,
    )
  return { token, units }
}

/** How much of a token may be taken out: what the book has and nothing binds; of USDC at most what may be withdrawn. */
async function readTakeable(db: Knex, userId: string, { mint }: Token): Promise<bigint> {
  await countCustody(db, mint, [userId])
  const [book] = await readCustody(db, mint, [userId])
  const unbound = book === undefined ? 0n : unboundOf(book)
  if (mint !== usdc.mint) return unbound
  const { available } = await readBalance(db, userId, 'USDC')
  return available < unbound ? available : unbound
}

export async function listTakeable(db: Knex, userId: string): Promise<TakeableToken[]> {
  const listed: TakeableToken[] = []
  for (const token of tokens) {
    const units = await readTakeable(db, userId, token)
    if (units > 0n)
      listed.push({ mint: token.mint, tokenSymbol: token.symbol, amount: displayText(units, token.decimals) })
  }
  return listed
}
