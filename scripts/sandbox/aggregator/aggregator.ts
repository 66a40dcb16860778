import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { ActiveFault } from '../active-fault.js'
import { RpcError } from '../chain/rpc/error.js'
import { CallCounter } from '../counters.js'
import { control, json, type Route, type SandboxAnswer, type SandboxRequest } from '../http-server.js'
import { EngineError, type Market, type Mode, modes, outages } from './engine.js'
import { referralAccountOf } from './liquidity.js'
import { UltraEngine } from './ultra.js'
import { answerQuote, answerSwap } from './v6.js'

/** A fault of an engine: for how many requests (`times`; without it until it is changed), and after which delay. */
interface EngineFault {
  readonly mode: Mode
  readonly delayMs?: number
  readonly times?: number
}

type EngineFaults = Readonly<Partial<Record<'ultra' | 'v6', EngineFault>>>

const mode = z
  .enum(modes)
  .transform((name): EngineFault => ({ mode: name }))
  .optional()
const controlled = z.strictObject({ ultra: mode, v6: mode })
const noFault: EngineFault = { mode: 'ok' }

/** Both swap engines. They trade with the liquidity that `createLiquidity` puts on the chain. */
export class Aggregator {
  /** Requests by endpoint, the refused ones included. */
  readonly calls = new CallCounter()
  /** The platform's referral account, which has token accounts for its share of Ultra's fees. */
  readonly referralAccount: string
  readonly routes: Readonly<Record<string, Route>>
  readonly #faults = { ultra: new ActiveFault<EngineFault>(), v6: new ActiveFault<EngineFault>() }

  constructor(market: Market) {
    this.referralAccount = referralAccountOf(market.chain).toBase58()
    const ultra = new UltraEngine(market)
    this.routes = {
      'GET /ultra/v1/order': this.#route('ultra', 'order', (request, mode) => ultra.order(request, mode)),
      'POST /ultra/v1/execute': this.#route('ultra', 'execute', (request) => ultra.execute(request)),
      'GET /swap/v1/quote': this.#route('v6', 'quote', (request, mode) => answerQuote(market, request, mode)),
      'POST /swap/v1/swap': this.#route('v6', 'swap', (request, mode) => answerSwap(market, request, mode)),
      'POST /dev/aggregator': control(controlled, ({ ultra, v6 }) =>
        this.set({ ...(ultra && { ultra }), ...(v6 && { v6 }) }),
      ),
      'GET /dev/aggregator': () => json(200, { referralAccount: this.referralAccount }),
    }
  }

  /** Sets the engines' faults. An engine that is not named keeps its fault. */
  set({ ultra, v6 }: EngineFaults): void {
    if (ultra) this.#faults.ultra.set(ultra)
    if (v6) this.#faults.v6.set(v6)
  }

  reset(): void {
    this.set({ ultra: noFault, v6: noFault })
  }

  /** Makes a route of an engine's endpoint: counts the requests and applies the active fault. */
  #route(
    engine: 'ultra' | 'v6',
    endpoint: string,
    handle: (request: SandboxRequest, mode: Mode) => SandboxAnswer | Promise<SandboxAnswer>,
  ): Route {
    return async (request) => {
      this.calls.add(endpoint)
      const { mode, delayMs = 0 } = this.#faults[engine].take() ?? noFault
      // The timer alone must not keep the process alive.
      if (delayMs > 0) await delay(delayMs, undefined, { ref: false })
      try {
        return outages[mode] ?? (await handle(request, mode))
      } catch (error) {
        if (error instanceof EngineError) return error.answer
        // The chain cannot decode the transaction of these parties, for example because a program is a signer.
        if (error instanceof RpcError) return json(400, { error: error.message })
        throw error
      }
    }
  }
}
