import { z } from 'zod'
import { ActiveFault } from '../active-fault.js'
import type { LocalChain } from '../chain/local-chain.js'
import { CallCounter } from '../counters.js'
import { control, json, type Route } from '../http-route.js'
import type { PriceFeed } from '../price-feed.js'
import { type EngineFault, noFault, ultraFaultSchema, v6FaultSchema } from './engine-fault.js'
import { engineRoute } from './engine-route.js'
import { referralAccountOf } from './liquidity.js'
import { UltraEngine } from './ultra/ultra.js'
import { V6Engine } from './v6/v6.js'

const faults = z.strictObject({ ultra: ultraFaultSchema.optional(), v6: v6FaultSchema.optional() })

/** Both swap engines. They trade with the liquidity that `createLiquidity` puts on the chain. */
export class Aggregator {
  /** Requests by endpoint, the refused ones included. */
  readonly calls = new CallCounter()
  /** The platform's referral account, which has token accounts for its share of Ultra's fees. */
  readonly referralAccount: string
  /** The endpoints and controls, by method and path. */
  readonly routes: Readonly<Record<string, Route>>
  readonly #ultra = new ActiveFault<EngineFault>()
  readonly #v6 = new ActiveFault<EngineFault>()

  constructor(chain: LocalChain, prices: PriceFeed) {
    this.referralAccount = referralAccountOf(chain).toBase58()
    const ultra = new UltraEngine(chain, prices)
    const v6 = new V6Engine(chain, prices)
    this.routes = {
      'GET /ultra/v1/order': engineRoute(this.#ultra, this.calls, 'order', (request, fault) =>
        ultra.order(request, fault),
      ),
      'POST /ultra/v1/execute': engineRoute(this.#ultra, this.calls, 'execute', (request) =>
        ultra.execute(request),
      ),
      'GET /swap/v1/quote': engineRoute(this.#v6, this.calls, 'quote', (request, fault) =>
        v6.quote(request, fault),
      ),
      'POST /swap/v1/swap': engineRoute(this.#v6, this.calls, 'swap', (request, fault) =>
        v6.swap(request, fault),
      ),
      'POST /dev/aggregator': control(faults, (wanted) => this.set(wanted)),
      'GET /dev/aggregator': () =>
        json(200, {
          ultra: this.#ultra.current ?? noFault,
          v6: this.#v6.current ?? noFault,
          referralAccount: this.referralAccount,
        }),
    }
  }

  /** Sets the engines' faults. An engine that is not named keeps its fault. */
  set({ ultra, v6 }: z.output<typeof faults>): void {
    if (ultra) this.#ultra.set(ultra)
    if (v6) this.#v6.set(v6)
  }

  reset(): void {
    this.set({ ultra: noFault, v6: noFault })
  }
}
