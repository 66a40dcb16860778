import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { ProviderError } from '../../../../src/kernel/provider-error.js'
import { solMint, usdc } from '../../../../src/kernel/tokens.js'
import type { SwapEngine, SwapRequest } from '../../../../src/ports/swaps.js'
import { createAggregatorUltra } from '../../../../src/providers/aggregator-ultra/aggregator-ultra.js'
import { createAggregatorV6 } from '../../../../src/providers/aggregator-v6/aggregator-v6.js'
import { createSolanaChain } from '../../../../src/providers/solana/solana-chain.js'
import { type Asked, differs, lastExchange, missing, type Questions } from './check.js'

/** 0.01 SOL. */
const amount = 10_000_000n
const feeBps = 200

/** A swap of 0.01 SOL of the treasury to USDC for a new wallet. Nothing is signed or sent. */
export function askSwaps(asked: Asked): Questions | string {
  const { SOLANA_RPC_URLS: urls, SOLANA_GENESIS_HASH: genesisHash, TREASURY_WALLET: supporter } = asked
  const { AGGREGATOR_API_KEY: apiKey, AGGREGATOR_REFERRAL_ACCOUNT: referralAccount } = asked
  if (urls === undefined) return 'SOLANA_RPC_URLS is not set'
  if (supporter === undefined) return 'TREASURY_WALLET is not set'
  const chain = createSolanaChain({ urls, genesisHash, onCall: () => {}, onFailure: () => {} })
  const recipient = Keypair.generate().publicKey.toBase58()
  const request: SwapRequest = {
    ...{ inputMint: solMint, outputMint: usdc.mint, amount, supporter, recipient },
    recipientAccount: chain.associatedAccount(recipient, usdc.mint),
    createsRecipientAccount: true,
    feeBps: 0,
    feeAccount: undefined,
    referenceKey: Keypair.generate().publicKey.toBase58(),
  }
  const ultra = async () => {
    const url = asked.AGGREGATOR_ULTRA_URL ?? missing('AGGREGATOR_ULTRA_URL is not set')
    const engine = createAggregatorUltra({ url, apiKey, referralAccount }, chain)
    return checkOffer(engine, { ...request, feeBps: referralAccount === undefined ? 0 : feeBps })
  }
  const v6 = async () => {
    const url = asked.AGGREGATOR_V6_URL ?? missing('AGGREGATOR_V6_URL is not set')
    const feeAccount = chain.associatedAccount(supporter, usdc.mint)
    const isOpen = (await chain.tokenAccounts([feeAccount])).has(feeAccount)
    const fee = isOpen ? { feeBps, feeAccount } : {}
    return checkOffer(createAggregatorV6({ url, apiKey }, chain), { ...request, ...fee })
  }
  return [
    ['ultra', ultra],
    ['v6', v6],
  ]
}

async function checkOffer(engine: SwapEngine, request: SwapRequest): Promise<string> {
  const offer = await engine.offer(request).catch((error: unknown) => {
    if (lacksFunds(error)) return missing(`${request.supporter} has too little SOL`)
    throw error
  })
  const { message } = VersionedTransaction.deserialize(offer.transaction)
  const [payer] = message.staticAccountKeys
  if (payer?.toBase58() !== request.supporter) differs('somebody else pays the network fee')
  if (message.header.numRequiredSignatures !== 1) differs('the transaction needs a second signature')
  if (offer.outAmount === 0n) differs('the swap gives nothing')
  const fee = request.feeBps > 0 && offer.includesFee ? 'with our fee' : 'without our fee'
  return `a transaction of ${offer.transaction.length} bytes, ${fee}`
}

/** Ultra quotes, and builds no transaction for a wallet that cannot pay: its first two error codes. */
function lacksFunds(error: unknown): boolean {
  if (!(error instanceof ProviderError) || error.kind !== 'rejected') return false
  const { errorCode } = (lastExchange().body ?? {}) as { errorCode?: unknown }
  return errorCode === 1 || errorCode === 2
}
