import { type StreamedTip, streamTips } from '../../src/sdk/client/index.js'
import { type Json, send, until } from './api.js'
import type { Supporter } from './supporter.js'

export interface Creator {
  readonly id: string
  readonly wallet: string
  /** The cookie of the creator's browser. */
  readonly cookie: string
}

/** A tip of a stream, and when it arrived, on the monotonic clock. */
interface ReceivedTip {
  readonly tip: StreamedTip
  readonly atMs: number
}

/** A stream of the creator's tips. */
interface Stream {
  readonly received: readonly ReceivedTip[]
  close(): Promise<void>
}

/** What every part of the demo uses. */
export interface DemoContext {
  /** URLs of a web process and of the stand-ins. */
  readonly web: string
  readonly sandbox: string
  readonly creator: Creator
  readonly supporter: Supporter
  /** One from each web process. */
  readonly streams: readonly Stream[]
  readonly say: (text: string) => void
}

/** Opens a stream with the SDK's client, and reads it in the background. Rejects when it does not open. */
export async function openStream(baseUrl: string, wallet: string): Promise<Stream> {
  const abort = new AbortController()
  const received: ReceivedTip[] = []
  let isConnected = false
  const onConnected = () => {
    isConnected = true
  }
  const done = (async () => {
    for await (const tip of streamTips({ baseUrl, wallet, signal: abort.signal, onConnected }))
      received.push({ tip, atMs: performance.now() })
  })()
  const close = () => {
    abort.abort()
    return done
  }
  await until(`the stream of ${baseUrl}`, 5_000, async () => isConnected || undefined)
  return { received, close }
}

/** Waits for the tip with this message on every stream. Rejects after `ms`. */
export function tipsOnStreams(
  { streams }: DemoContext,
  message: string,
  ms: number,
): Promise<readonly ReceivedTip[]> {
  return Promise.all(
    streams.map(({ received }) =>
      until(`the tip "${message}"`, ms, async () => received.find(({ tip }) => tip.message === message)),
    ),
  )
}

/** Calls an endpoint in the creator's browser. */
export async function callAsCreator(
  { web, creator: { cookie } }: Pick<DemoContext, 'web' | 'creator'>,
  method: 'GET' | 'POST' | 'PATCH',
  path: string,
  body?: Json,
): Promise<Json> {
  return (await send(`${web}${path}`, { method, cookie, ...(body === undefined ? {} : { body }) })).answer
}

/** In USDC. Pending: from tips that are not final yet. Held: for withdrawals under way. */
export type Balance = Readonly<Record<'availableUSDC' | 'pendingUSDC' | 'heldUSDC', number>>

export async function readBalance(context: DemoContext): Promise<Balance> {
  const { balance } = await callAsCreator(context, 'GET', '/creators/balance')
  const { availableUSDC, pendingUSDC, heldUSDC } = balance as Balance
  return { availableUSDC, pendingUSDC, heldUSDC }
}
