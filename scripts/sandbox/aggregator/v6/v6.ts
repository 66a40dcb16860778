import type { LocalChain } from '../../chain/local-chain.js'
import { errorMessage } from '../../chain/vm/svm-errors.js'
import { transactionBytesMax } from '../../chain/vm/wire-transaction.js'
import { json, type SandboxAnswer, type SandboxRequest } from '../../http-route.js'
import type { PriceFeed } from '../../price-feed.js'
import { alterPlan } from '../alter-plan.js'
import { unitLimit } from '../build-swap.js'
import { composeTransaction } from '../compose-transaction.js'
import { blockHeightField, type EngineFault } from '../engine-fault.js'
import { EngineError, readJson, readQuery } from '../engine-route.js'
import { planSwap, swapBody } from './plan-swap.js'
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
    const body = readJson(swapBody, request)
    const plan = alterPlan(this.#chain, fault.mode, planSwap(this.#chain, this.#prices, body))
    const { transaction, lastValidBlockHeight } = composeTransaction(this.#chain, plan)
    return json(200, {
      swapTransaction: transaction.toString('base64'),
      ...blockHeightField(lastValidBlockHeight, fault.height ?? 'number'),
      prioritizationFeeLamports: Math.ceil((plan.unitPrice * unitLimit) / 1_000_000),
      computeUnitLimit: unitLimit,
      prioritizationType: {
        computeBudget: { microLamports: plan.unitPrice, estimatedMicroLamports: plan.unitPrice },
      },
      simulationSlot: null,
      dynamicSlippageReport: null,
      // The transaction is simulated only on request. Otherwise a failing transaction is returned like any other.
      simulationError: body.dynamicComputeUnitLimit ? this.#simulationError(transaction) : null,
      addressesByLookupTableAddress: null,
    })
  }

  #simulationError(transaction: Buffer): { errorCode: string; error: string } | null {
    if (transaction.length > transactionBytesMax) {
      return { errorCode: 'TRANSACTION_ERROR', error: `transaction too large: ${transaction.length} bytes` }
    }
    const { err } = this.#chain.simulate(transaction, { verifySignatures: false, anyBlockhash: true })
    return err === null ? null : { errorCode: 'TRANSACTION_ERROR', error: errorMessage(err) }
  }
}

function unparsableParameter(parameter: string, reason: string): EngineError {
  return new EngineError(400, { error: `Query parameter ${parameter} cannot be parsed: ${reason}` })
}
