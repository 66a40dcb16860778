import { randomInt } from 'node:crypto'
import type { Knex } from 'knex'
import type { Context } from 'koa'
import { partyWalletSql } from '../../creators/find-creator.js'
import { EventStream, eventText, type HeartbeatWheel } from '../../http/sse.js'
import { query } from '../../platform/database/database.js'
import type { Services } from '../../services.js'
import type { StreamHub } from './stream-hub.js'

/** When the readers of a process that stops come back. */
const leastReconnectMs = 500
const mostReconnectMs = 5000

export interface TipStreams {
  /**
   * Serves one reader (API: GET /chain/tips/stream): the retry directive, the `connected` event, then every newly
   * confirmed tip. With `Last-Event-ID` the stream starts after that event, otherwise it starts now.
   */
  serve(ctx: Context, wallet: string): Promise<void>
  /** Ends all streams. Their readers reconnect to another process, each at a time of its own, so that they do not come all at once. */
  close(): void
}

export function createTipStreams(
  { db, metrics }: Pick<Services, 'db' | 'metrics'>,
  hub: StreamHub,
  wheel: HeartbeatWheel,
): TipStreams {
  const open = new Set<EventStream>()
  let closing = false
  return {
    async serve(ctx, wallet) {
      const stream = new EventStream(ctx)
      open.add(stream)
      metrics.openStreams.inc()
      const removeHeartbeat = wheel.add(stream)
      let closeReader = (): void => undefined
      stream.onClose = () => {
        open.delete(stream)
        metrics.openStreams.dec()
        removeHeartbeat()
        closeReader()
      }
      const start = await findStart(db, wallet).catch(() => undefined)
      if (start === undefined || closing) {
        // After an error status a browser's EventSource gives up. After the end of a stream it reconnects in ten seconds.
        stream.end()
        return
      }
      const cursor = startCursor(ctx.get('Last-Event-ID'), start.newest)
      // With this id a stock EventSource also resumes from here when the connection breaks before the first tip.
      stream.send(eventText({ status: 'connected', wallet }, cursor))
      if (stream.closed) return
      closeReader = hub.open(start.wallet, cursor, start.newest, (text) => stream.send(text))
    },
    close() {
      closing = true
      for (const stream of open) stream.end(randomInt(leastReconnectMs, mostReconnectMs))
    },
  }
}

/** The cursor to start from: the last event the reader received, but never in the future. */
function startCursor(lastEventId: string, newest: number): number {
  return /^\d{1,15}$/.test(lastEventId) ? Math.min(Number(lastEventId), newest) : newest
}

/**
 * The wallet whose tips a stream has, which for a creator's payout wallet is the custody wallet, and the stamp of its newest
 * confirmed tip in epoch ms; 0 when it has none.
 */
async function findStart(db: Knex, wallet: string): Promise<{ wallet: string; newest: number }> {
  const [row] = await query<{ wallet: string; lastAt: Date | null }>(db, {
    name: 'tips.newest',
    text: /* sql */ `
      select s.wallet, c.last_at as "lastAt"
      from (select ${partyWalletSql('$1::text')} as wallet) s
        left join parties p on p.wallet = s.wallet left join creator_cursors c on c.party_id = p.id`,
    values: [wallet],
  })
  return { wallet: row?.wallet ?? wallet, newest: row?.lastAt?.getTime() ?? 0 }
}
