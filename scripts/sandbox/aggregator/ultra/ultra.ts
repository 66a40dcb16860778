import type { LocalChain } from '../../chain/local-chain.js'
import { json, type SandboxAnswer, type SandboxRequest } from '../../http-route.js'
import type { PriceFeed } from '../../price-feed.js'
import type { EngineFault } from '../engine-fault.js'
import { EngineError, readJson, readQuery } from '../engine-route.js'
import { executeBody, executeOrder, refused } from './execute-order.js'
import { buildOrder, type Order, orderJson, orderQuery, priceOrder } from './order.js'

/** How long an order can be executed, and how many orders are kept. */
const orderMs = 120_000
const ordersMax = 10_000

/** The stand-in for the engine behind `aggregator-ultra`, in the wire format of Jupiter's Ultra API. */
export class UltraEngine {
  readonly #chain: LocalChain
  readonly #prices: PriceFeed
  readonly #orders = new Map<string, { readonly order: Order; readonly until: number }>()

  constructor(chain: LocalChain, prices: PriceFeed) {
    this.#chain = chain
    this.#prices = prices
  }

  /** `GET /order`: a price and, for a taker, a transaction to sign. */
  order(request: SandboxRequest, fault: EngineFault): SandboxAnswer {
    const query = readQuery(orderQuery, request, invalidParameter)
    const trade = priceOrder(this.#chain, this.#prices, query, fault.mode)
    const order = buildOrder(this.#chain, query, trade, fault.mode)
    this.#remember(order)
    return json(200, orderJson(this.#chain, order, fault.height))
  }

  /** `POST /execute`: submits a signed order. */
  async execute(request: SandboxRequest): Promise<SandboxAnswer> {
    const { signedTransaction, requestId } = readJson(executeBody, request)
    if (!requestId) throw refused(-4, 'Missing request id')
    if (!signedTransaction) throw refused(-5, 'Missing signed transaction')
    const remembered = this.#orders.get(requestId)
    if (!remembered || remembered.until < Date.now())
      throw refused(-1, 'Order not found, it might have expired')
    return json(200, await executeOrder(this.#chain, remembered.order, signedTransaction))
  }

  #remember(order: Order): void {
    const [oldest] = this.#orders.keys()
    if (this.#orders.size >= ordersMax && oldest !== undefined) this.#orders.delete(oldest)
    this.#orders.set(order.requestId, { order, until: Date.now() + orderMs })
  }
}

function invalidParameter(parameter: string, reason: string): EngineError {
  return new EngineError(400, { error: `Invalid query parameter ${parameter}: ${reason}` })
}
