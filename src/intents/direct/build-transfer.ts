import type { PayableCreator } from '../../creators/resolve-creator.js'
import type { Token } from '../../kernel/tokens.js'
import type { Services } from '../../services.js'
import { type GrossAmount, splitFee } from '../quote.js'
import { newReferenceKey, type UnsignedTransaction } from '../unsigned-transaction.js'

/**
 * Builds the unsigned transaction of a tip whose input and output token are the same. Throws `amount_below_minimum` when
 * the recipient's wallet would stay below the rent exemption.
 */
export async function buildDirectTransfer(
  { chain, config, metrics, log }: Pick<Services, 'chain' | 'config' | 'metrics' | 'log'>,
  token: Token,
  gross: GrossAmount,
  creator: PayableCreator,
  sender: string,
): Promise<UnsignedTransaction> {
  const { treasuryWallet, feeBps } = config.tips
  const [{ blockhash, lastValidBlockHeight }, accounts] = await Promise.all([
    chain.latestBlockhash(),
    chain.transferAccounts(token.mint, creator.wallet, treasuryWallet),
  ])
  const amounts = splitFee(gross.units, feeBps, token, accounts)
  if (amounts.feeLeftOut) {
    metrics.alerts.inc({ kind: 'fee_leg_left_out' })
    log.warn(
      { token: token.symbol },
      'the treasury cannot receive this token: the transaction of a tip is built without the platform fee',
    )
  }
  const referenceKey = newReferenceKey()
  const { mint, decimals } = token
  const transaction = chain.buildTransfer({
    mint,
    decimals,
    sender,
    recipient: creator.wallet,
    treasury: treasuryWallet,
    net: amounts.net,
    fee: amounts.fee,
    referenceKey,
    blockhash,
  })
  return {
    provider: 'direct-transfer',
    output: token,
    transaction,
    lastValidBlockHeight,
    referenceKey,
    messageHash: null,
    outAmount: amounts.net,
    leastAmount: amounts.net,
    fee: amounts.fee,
    priceImpactPct: 0,
  }
}
