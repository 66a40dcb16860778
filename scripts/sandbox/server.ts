import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { z } from 'zod'
import { ActiveFault } from './active-fault.js'
import { Aggregator } from './aggregator/aggregator.js'
import { createLiquidity } from './aggregator/liquidity.js'
import { airdropControl, domainControl } from './chain/controls.js'
import { createInitialAccounts, fundTreasury } from './chain/initial-accounts.js'
import { LocalChain } from './chain/local-chain.js'
import { faultAnswer, type RpcFault } from './chain/rpc/faults.js'
import { errorAnswer, RpcServer } from './chain/rpc/server.js'
import { PubSub } from './chain/rpc/websocket.js'
import { CallCounter } from './counters.js'
import { PriceFeed, RateFeed } from './feeds.js'
import { Fiatpay } from './fiatpay/fiatpay.js'
import { fiatpayRoutes } from './fiatpay/routes.js'
import {
  closeServer,
  control,
  json,
  listen,
  localhost,
  parseJson,
  type Route,
  type Routes,
} from './http-server.js'
import { MailServer } from './mail/mail-server.js'

export interface SandboxOptions {
  /** HTTP port. The WebSocket is on the next port, where web3.js expects it. 0: any two free ports. */
  readonly port: number
  /** Directory of the chain's journal and the fiat provider's records. Without it they are in memory. */
  readonly dataDir?: string
  /** Milliseconds per slot (400). With 0 the clock moves only with `chain.advance`. */
  readonly slotMs?: number
  /** Slots until a transaction is finalized (32). */
  readonly finalizeLag?: number
  /** Without it any free port. `off`: no mail server. */
  readonly smtpPort?: number | 'off'
  readonly treasury?: string
  /** The fiat provider's secret key: callers authorize with it, and it signs webhooks. */
  readonly fiatpayKey?: string
  /** Whether the fiat provider charges its fees, while no mode is set. */
  readonly fiatpayFees?: boolean
  /** Its only key that may send money. Without it the secret key may. */
  readonly payoutKey?: string
  /** Where the fiat provider's webhooks go. Without it none are sent. */
  readonly webhookUrl?: string
  /** Where payers' browsers reach the fiat provider's checkout pages, if not at the host that its caller uses. */
  readonly checkoutUrl?: string
}

export interface Sandbox {
  readonly url: string
  readonly chain: LocalChain
  readonly prices: PriceFeed
  readonly mail: MailServer
  readonly rates: RateFeed
  readonly fiatpay: Fiatpay
  readonly aggregator: Aggregator
  readonly calls: CallCounter
  readonly faults: ActiveFault<RpcFault>
  close(): Promise<void>
}

/** Starts the stand-ins. Rejects when a port is taken, or when the journal or the records cannot be read. */
export async function startSandbox(options: SandboxOptions): Promise<Sandbox> {
  const { dataDir, fiatpayKey: secretKey, fiatpayFees: fees, payoutKey, webhookUrl, checkoutUrl } = options
  const chain = new LocalChain({
    seed: 'sandbox',
    slotMs: options.slotMs ?? 400,
    confirmLag: 1,
    finalizeLag: options.finalizeLag ?? 32,
    ...(dataDir === undefined ? {} : { journalPath: join(dataDir, 'chain.jsonl') }),
  })
  const calls = new CallCounter()
  const faults = new ActiveFault<RpcFault>()
  const prices = new PriceFeed()
  const rates = new RateFeed()
  const fiatpay = new Fiatpay({ dataDir, secretKey, payoutKey, webhookUrl, checkoutUrl, fees })
  const aggregator = new Aggregator({ chain, prices })
  const rpc = new RpcServer(chain, (method) => calls.add(method))
  const { smtpPort = 0 } = options
  const mail = smtpPort === 'off' ? new MailServer() : await MailServer.listen(smtpPort)
  const stop = () => {
    fiatpay.close()
    chain.close()
    return mail.close()
  }
  const routes: Routes = {
    'GET /health': () => json(200, { status: 'ok' }),
    'POST /': rpcRoute(rpc, faults, calls),
    'GET /price/v3': prices.answer,
    'POST /dev/prices': prices.control,
    'GET /dev/mail': mail.list,
    'GET /dev/mail/view': mail.view,
    'GET /rates/USD': rates.answer,
    'POST /dev/rates': rates.control,
    ...fiatpayRoutes(fiatpay),
    ...aggregator.routes,
    'POST /dev/airdrop': airdropControl(chain),
    'POST /dev/domains': domainControl(chain),
    'POST /dev/reset': resetControl({
      prices: () => prices.reset(),
      mail: () => mail.reset(),
      rates: () => rates.reset(),
      fiatpay: () => fiatpay.reset(),
      aggregator: () => aggregator.reset(),
      'chain-controls': () => chain.releaseControls(),
    }),
  }
  try {
    createInitialAccounts(chain)
    createLiquidity(chain)
    if (options.treasury !== undefined) fundTreasury(chain, options.treasury)
    const { port, server, pubSub } = await listenOnPair(options.port, routes, (next) =>
      PubSub.listen(next, chain, rpc),
    )
    const url = `http://${localhost}:${port}`
    const close = async () => {
      await Promise.all([pubSub.close(), closeServer(server)])
      await stop()
    }
    return { url, chain, prices, mail, rates, fiatpay, aggregator, calls, faults, close }
  } catch (error) {
    await stop()
    throw error
  }
}

const portAttempts = 200

/** Serves the routes on a port and the pubsub on the next. Port 0: tries until two consecutive ports are free. */
async function listenOnPair(
  requestedPort: number,
  routes: Routes,
  startPubSub: (port: number) => Promise<PubSub>,
): Promise<{ port: number; server: Server; pubSub: PubSub }> {
  for (let attempt = 1; ; attempt++) {
    const server = await listen(requestedPort, routes)
    const { port } = server.address() as AddressInfo
    try {
      return { port, server, pubSub: await startPubSub(port + 1) }
    } catch (error) {
      await closeServer(server)
      if (requestedPort !== 0 || attempt >= portAttempts) throw error
    }
  }
}

function rpcRoute(rpc: RpcServer, faults: ActiveFault<RpcFault>, calls: CallCounter): Route {
  return ({ body }) => {
    calls.httpRequests += 1
    const parsed = parseJson(body)
    if (parsed === undefined) return json(200, errorAnswer(null, -32700, 'Parse error'))
    const fault = faults.take()
    return (fault && faultAnswer(fault, parsed)) ?? json(200, rpc.answer(parsed))
  }
}

/** `POST /dev/reset { what: [...] }`: resets the named stand-ins to their initial state. */
function resetControl(resets: Record<string, () => void>): Route {
  const schema = z.strictObject({ what: z.array(z.enum(Object.keys(resets))).min(1) })
  return control(schema, ({ what }) => {
    for (const name of what) resets[name]?.()
  })
}
