import { callWithSession } from './api.js'
import type { EventReader, ReceivedEvent } from './event-reader.js'
import type { Supporter } from './supporter.js'

export interface Creator {
  readonly id: string
  readonly wallet: string
  /** The cookie of the creator's browser. */
  readonly cookie: string
}

/** What every part of the demo uses. */
export interface DemoContext {
  /** URLs of a web process and of the stand-ins. */
  readonly web: string
  readonly sandbox: string
  readonly creator: Creator
  readonly supporter: Supporter
  /** Streams of the creator's tips, one from each web process. */
  readonly streams: readonly EventReader[]
  readonly say: (text: string) => void
}

/** Waits for the event of the tip with this message on every stream. Rejects after `ms`. */
export function eventsOnStreams(
  { streams }: DemoContext,
  message: string,
  ms: number,
): Promise<readonly ReceivedEvent[]> {
  return Promise.all(streams.map((stream) => stream.next(({ data }) => data['message'] === message, ms)))
}

/** In USDC. Pending: from tips that are not final yet. Held: for withdrawals under way. */
export type Balance = Readonly<Record<'availableUSDC' | 'pendingUSDC' | 'heldUSDC', number>>

export async function readBalance({ web, creator }: DemoContext): Promise<Balance> {
  const { balance } = await callWithSession(web, 'GET', '/creators/balance', creator.cookie)
  const { availableUSDC, pendingUSDC, heldUSDC } = balance as Balance
  return { availableUSDC, pendingUSDC, heldUSDC }
}
