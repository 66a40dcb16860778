import { Keypair, VersionedTransaction } from '@solana/web3.js'
import { ProviderError } from '../../../../src/kernel/provider-error.js'
import { solMint, usdc } from '../../../../src/kernel/tokens.js'
import type { Chain } from '../../../../src/ports/chain.js'
import type { SwapEngine, SwapRequest } from '../../../../src/ports/swaps.js'
import { createAggregatorUltra } from '../../../../src/providers/aggregator-ultra/aggregator-ultra.js'
import { createAggregatorV6 } from '../../../../src/providers/aggregator-v6/aggregator-v6.js'
import { createSolanaChain } from '../../../../src/providers/solana/solana-chain.js'
import { ask, type Check, differs, lastExchange, NotAsked, notAsked } from './check.js'
import type { Asked } from './settings.js'

const provider = 'swaps'
/** 0.01 SOL. */
const amount = 10_000_000n
const feeBps = 200

/**
 * Asks both swap engines for a swap of 0.01 SOL to USDC for a new wallet. Nothing is signed or sent. `wallet`: pays in it, so
 * it must have some SOL.
 */
export async function askSwaps(asked: Asked, wallet = asked.treasuryWallet): Promise<Check[]> {
  const { rpcUrls, treasuryWallet, swaps } = asked
  const { ultraUrl, v6Url, apiKey, referralAccount } = swaps
  const names = ['ultra', 'v6']
  if (rpcUrls.length === 0) return notAsked(provider, names, 'SOLANA_RPC_URLS is not set')
  if (wallet === undefined) return notAsked(provider, names, 'give --wallet or TREASURY_WALLET')
  const chain = createSolanaChain({
    urls: rpcUrls,
    genesisHash: asked.genesisHash,
    onCall: () => {},
    onFailure: () => {},
  })
  const request = newRequest(chain, wallet)
  return [
    await ask(provider, 'ultra', async () => {
      if (ultraUrl === undefined) throw new NotAsked('AGGREGATOR_ULTRA_URL is not set')
      const engine = createAggregatorUltra({ url: ultraUrl, apiKey, referralAccount }, chain)
      return checkOffer(engine, { ...request, feeBps: referralAccount === undefined ? 0 : feeBps })
    }),
    await ask(provider, 'v6', async () => {
      if (v6Url === undefined) throw new NotAsked('AGGREGATOR_V6_URL is not set')
      const account = treasuryWallet && chain.associatedAccount(treasuryWallet, usdc.mint)
      const isOpen = account !== undefined && (await chain.tokenAccounts([account])).has(account)
      const fee = isOpen ? { feeBps, feeAccount: account } : {}
      return checkOffer(createAggregatorV6({ url: v6Url, apiKey }, chain), { ...request, ...fee })
    }),
  ]
}

function newRequest(chain: Chain, supporter: string): SwapRequest {
  const recipient = Keypair.generate().publicKey.toBase58()
  return {
    inputMint: solMint,
    outputMint: usdc.mint,
    amount,
    supporter,
    recipient,
    recipientAccount: chain.associatedAccount(recipient, usdc.mint),
    createsRecipientAccount: true,
    feeBps: 0,
    feeAccount: undefined,
    referenceKey: Keypair.generate().publicKey.toBase58(),
  }
}

async function checkOffer(engine: SwapEngine, request: SwapRequest): Promise<string> {
  const offer = await engine.offer(request).catch((error: unknown) => {
    if (lacksFunds(error))
      throw new NotAsked(`${request.supporter} has too little SOL: give another --wallet`)
    throw error
  })
  const { message } = VersionedTransaction.deserialize(offer.transaction)
  const [payer] = message.staticAccountKeys
  if (payer?.toBase58() !== request.supporter) differs('somebody else pays the network fee')
  if (message.header.numRequiredSignatures !== 1) differs('the transaction needs a second signature')
  if (offer.outAmount === 0n) differs('the swap gives nothing')
  const fee =
    request.feeBps === 0 ? 'asked without our fee' : offer.includesFee ? 'with our fee' : 'without our fee'
  return `a transaction of ${offer.transaction.length} bytes, ${fee}`
}

/** Ultra quotes, and builds no transaction for a wallet that cannot pay: its first two error codes. */
function lacksFunds(error: unknown): boolean {
  if (!(error instanceof ProviderError) || error.kind !== 'rejected') return false
  const { errorCode } = (lastExchange().body ?? {}) as { errorCode?: unknown }
  return errorCode === 1 || errorCode === 2
}
