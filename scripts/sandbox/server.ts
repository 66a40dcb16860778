import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import { Aggregator } from './aggregator/aggregator.js'
import { plantLiquidity } from './aggregator/liquidity.js'
import { airdropControl } from './airdrop.js'
import { CallCounter } from './call-counter.js'
import { LocalChain } from './chain/local-chain.js'
import { plantBasics, plantTreasury } from './chain/plant.js'
import { failed, RpcServer } from './chain/rpc/server.js'
import { PubSub } from './chain/rpc/websocket.js'
import { domainControl } from './domains.js'
import { json, type Route, readControl } from './exchange.js'
import { Fiatpay } from './fiatpay/fiatpay.js'
import { fiatpayRoutes } from './fiatpay/routes.js'
import { closeServer, listenOnPair, type Routes } from './http-server.js'
import { MailServer } from './mail/mail.js'
import { PriceFeed } from './prices.js'
import { RateFeed } from './rates.js'
import { faultAnswer, RpcFaults, rpcFaultSchema } from './rpc-faults.js'

export interface SandboxOptions {
  /** HTTP; the WebSocket is on the next port, where web3.js looks for it. 0: any two free ones. */
  readonly port: number
  readonly host?: string
  /** Directory of the chain's journal and the fiat provider's books; without it they live in memory. */
  readonly dataDir?: string
  /** Milliseconds per slot (400); 0 is a clock moved by `chain.advance` alone. */
  readonly slotMs?: number
  /** Slots until a transaction is finalized (32). */
  readonly finalizeLag?: number
  /** SMTP; 0, the default: any free port. */
  readonly smtpPort?: number
  /** A wallet to give 1 SOL and its token accounts. */
  readonly treasury?: string
  /** What callers of the fiat provider authorize with, and its webhooks are signed with. */
  readonly fiatpayKey?: string
  /** Where its webhooks go; without it nowhere. */
  readonly webhookUrl?: string
}

export interface Sandbox {
  readonly url: string
  readonly wsUrl: string
  readonly chain: LocalChain
  readonly prices: PriceFeed
  readonly mail: MailServer
  readonly rates: RateFeed
  readonly fiatpay: Fiatpay
  /** The swap engines. */
  readonly aggregator: Aggregator
  /** What the JSON-RPC endpoint was asked. */
  readonly calls: CallCounter
  /** Makes the JSON-RPC endpoint misbehave. */
  readonly faults: RpcFaults
  close(): Promise<void>
}

/** Starts the stand-ins. Rejects when a port is taken or the journal or the books cannot be read. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { host = '127.0.0.1', dataDir, fiatpayKey: secretKey, webhookUrl } = options
  const chain = new LocalChain({
    seed: 'sandbox',
    slotMs: options.slotMs ?? 400,
    confirmLag: 1,
    finalizeLag: options.finalizeLag ?? 32,
    ...(dataDir === undefined ? {} : { journalPath: join(dataDir, 'chain.jsonl') }),
  })
  const calls = new CallCounter()
  const faults = new RpcFaults()
  const prices = new PriceFeed()
  const rates = new RateFeed()
  const fiatpay = new Fiatpay({ dataDir, secretKey, webhookUrl })
  const aggregator = new Aggregator(chain, prices)
  const rpc = new RpcServer(chain, (method) => calls.add(method))
  const mail = await MailServer.listen(options.smtpPort ?? 0, host)
  const routes: Routes = new Map(
    Object.entries<Route>({
      'GET /health': () => json(200, { status: 'ok' }),
      'POST /': rpcRoute(rpc, faults, calls),
      'GET /price/v3': prices.answer,
      'POST /dev/prices': prices.control,
      'GET /dev/mail': mail.list,
      'GET /dev/mail/view': mail.view,
      'POST /dev/mail/faults': mail.control,
      'GET /rates/USD': rates.answer,
      'POST /dev/rates': rates.control,
      ...fiatpayRoutes(fiatpay),
      ...aggregator.routes,
      'POST /dev/airdrop': airdropControl(chain),
      'POST /dev/domains': domainControl(chain),
      'POST /dev/rpc-faults': (request) => {
        faults.set(readControl(rpcFaultSchema, request))
        return json(200, { success: true })
      },
      'POST /dev/reset': resetControl({
        prices: () => prices.reset(),
        mail: () => mail.reset(),
        rates: () => rates.reset(),
        fiatpay: () => fiatpay.reset(),
        aggregator: () => aggregator.reset(),
        'rpc-faults': () => faults.clear(),
        'chain-controls': () => chain.releaseControls(),
      }),
    }),
  )
  try {
    plantBasics(chain)
    plantLiquidity(chain)
    if (options.treasury !== undefined) plantTreasury(chain, options.treasury)
    const { port, server, companion } = await listenOnPair(options.port, host, routes, (next) =>
      PubSub.listen(next, host, chain, rpc),
    )
    const close = async () => {
      await Promise.all([companion.close(), closeServer(server), mail.close()])
      fiatpay.close()
      chain.close()
    }
    return {
      url: `http://${host}:${port}`,
      wsUrl: `ws://${host}:${port + 1}`,
      chain,
      prices,
      mail,
      rates,
      fiatpay,
      aggregator,
      calls,
      faults,
      close,
    }
  } catch (error) {
    fiatpay.close()
    chain.close()
    await mail.close()
    throw error
  }
}

function rpcRoute(rpc: RpcServer, faults: RpcFaults, calls: CallCounter): Route {
  return async ({ body }) => {
    calls.httpRequests += 1
    let parsed: unknown
    try {
      parsed = JSON.parse(body.toString('utf8'))
    } catch {
      return json(200, failed(null, -32700, 'Parse error'))
    }
    const fault = faults.take(parsed)
    if (fault?.delayMs) await delay(fault.delayMs)
    return (fault && faultAnswer(fault, parsed)) ?? json(200, rpc.answer(parsed))
  }
}

/** `POST /dev/reset { what: [...] }`: puts the named stand-ins back to how they started. */
function resetControl(resets: Record<string, () => void>): Route {
  const schema = z.strictObject({ what: z.array(z.enum(Object.keys(resets))).min(1) })
  return (request) => {
    for (const name of readControl(schema, request).what) resets[name]?.()
    return json(200, { success: true })
  }
}
