import type { TransactionInstruction } from '@solana/web3.js'
import { decodeBase58 } from '../../../../src/kernel/base58.js'
import type { LocalChain } from '../../chain/local-chain.js'
import { latestBlockhash } from '../../chain/rpc/cluster.js'
import { errorMessage } from '../../chain/vm/svm-errors.js'
import { transactionBytesMax } from '../../chain/vm/wire-transaction.js'
import { json, type SandboxAnswer, type SandboxRequest } from '../../http-route.js'
import type { PriceFeed } from '../../price-feed.js'
import { alterPlan } from '../alter-plan.js'
import { buildSwap, flattenInstructions, type SwapPlan, unitLimit } from '../build-swap.js'
import { composeTransaction } from '../compose-transaction.js'
import { blockHeightField, type EngineFault } from '../engine-fault.js'
import { EngineError, readJson, readQuery } from '../engine-route.js'
import { lookupTableOf } from '../liquidity.js'
import { planSwap, type SwapBody, swapBody } from './plan-swap.js'
import { quoteJson, quoteQuery } from './quote.js'

/** The stand-in for the engine behind `aggregator-v6`, in the wire format of Jupiter's Swap API v1. */
export class V6Engine {
  readonly #chain: LocalChain
  readonly #prices: PriceFeed

  constructor(chain: LocalChain, prices: PriceFeed) {
    this.#chain = chain
    this.#prices = prices
  }

  /** `GET /quote`: a price. */
  quote(request: SandboxRequest, { mode }: EngineFault): SandboxAnswer {
    const query = readQuery(quoteQuery, request, unparsableParameter)
    return json(200, quoteJson(this.#chain, this.#prices, query, mode))
  }

  /** `POST /swap`: the transaction of a quote. */
  swap(request: SandboxRequest, fault: EngineFault): SandboxAnswer {
    const { body, plan } = this.#read(request, fault)
    const payer = plan.cosigner ?? plan.user
    const { transaction, lastValidBlockHeight } = composeTransaction(
      this.#chain,
      payer,
      flattenInstructions(buildSwap(plan)),
    )
    return json(200, {
      swapTransaction: transaction.toString('base64'),
      ...blockHeightField(lastValidBlockHeight, fault.height ?? 'number'),
      ...this.#report(plan),
      // The transaction is simulated only on request. Otherwise a failing transaction is returned like any other.
      simulationError: body.dynamicComputeUnitLimit ? this.#simulationError(transaction) : null,
      addressesByLookupTableAddress: null,
    })
  }

  /** `POST /swap-instructions`: the instructions, for callers that add their own. */
  swapInstructions(request: SandboxRequest, fault: EngineFault): SandboxAnswer {
    const { plan } = this.#read(request, fault)
    const { computeBudget, setup, swap, cleanup } = buildSwap(plan)
    const { blockhash, lastValidBlockHeight } = latestBlockhash(this.#chain, 'confirmed')
    return json(200, {
      tokenLedgerInstruction: null,
      computeBudgetInstructions: computeBudget.map(instructionJson),
      setupInstructions: setup.map(instructionJson),
      swapInstruction: instructionJson(swap),
      cleanupInstruction: cleanup ? instructionJson(cleanup) : null,
      otherInstructions: [],
      addressLookupTableAddresses: [lookupTableOf(this.#chain).key.toBase58()],
      ...this.#report(plan),
      simulationError: null,
      addressesByLookupTableAddress: null,
      blockhashWithMetadata: {
        blockhash: [...(decodeBase58(blockhash) ?? [])],
        ...blockHeightField(lastValidBlockHeight, fault.height ?? 'number'),
      },
    })
  }

  #read(request: SandboxRequest, { mode }: EngineFault): { body: SwapBody; plan: SwapPlan } {
    const body = readJson(swapBody, request)
    return { body, plan: alterPlan(this.#chain, mode, planSwap(this.#chain, this.#prices, body)) }
  }

  #report({ unitPrice }: SwapPlan) {
    return {
      prioritizationFeeLamports: Math.ceil((unitPrice * unitLimit) / 1_000_000),
      computeUnitLimit: unitLimit,
      prioritizationType: { computeBudget: { microLamports: unitPrice, estimatedMicroLamports: unitPrice } },
      simulationSlot: null,
      dynamicSlippageReport: null,
    }
  }

  #simulationError(transaction: Buffer): { errorCode: string; error: string } | null {
    if (transaction.length > transactionBytesMax) {
      return { errorCode: 'TRANSACTION_ERROR', error: `transaction too large: ${transaction.length} bytes` }
    }
    const { err } = this.#chain.simulate(transaction, { verifySignatures: false, anyBlockhash: true })
    return err === null ? null : { errorCode: 'TRANSACTION_ERROR', error: errorMessage(err) }
  }
}

function instructionJson({ programId, keys, data }: TransactionInstruction) {
  const accounts = keys.map(({ pubkey, isSigner, isWritable }) => ({
    pubkey: pubkey.toBase58(),
    isSigner,
    isWritable,
  }))
  return { programId: programId.toBase58(), accounts, data: data.toString('base64') }
}

function unparsableParameter(parameter: string, reason: string): EngineError {
  return new EngineError(400, { error: `Query parameter ${parameter} cannot be parsed: ${reason}` })
}
