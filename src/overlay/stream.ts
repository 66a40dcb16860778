import type { Knex } from 'knex'
import { eventChannel } from '../events/event.js'
import type { StreamStart } from '../events/stream.js'
import {
  type Position,
  pagesOf,
  type StreamEvent,
  type StreamSource,
  streamPageSize,
} from '../events/stream-hub.js'
import { eventText } from '../http/sse.js'
import { query } from '../platform/database/database.js'
import { type DecidedTip, decidedColumns, decidedJoins, isSeen, judgeBy, presentOverlayTip } from './judge.js'
import { isOverlayToken } from './overlay.js'
import { lookOf, type OverlaySettings, parseSettings, type TipState } from './schemas.js'

/** A test alert is of now: a reader that comes back later does not get it. */
const testSeconds = 30

interface Row extends DecidedTip {
  readonly place: number
  readonly kind: 'tip' | 'decision' | 'settings' | 'test'
  readonly at: Date
  readonly token: string
  readonly settings: object
  readonly testedUsd: number | null
  readonly isConfirmed: boolean | null
}

/**
 * What open overlays of a creator are told: tips, approvals, changes of settings, test alerts. All have stamps of one cursor
 * (`takeStamp`), so a reader that comes back after any of them misses none and gets none twice. One statement reads them, because two
 * would see different moments.
 */
export const overlayStream: StreamSource = {
  channel: eventChannel,
  async readAfter(db, reads) {
    const rows = await query<Row>(db, {
      name: 'overlay.after',
      text: /* sql */ `
        select c.place::int as place, x.kind, x.at, o.token, o.settings, o.tested_usd::float8 as "testedUsd",
          t.status = 'confirmed' as "isConfirmed", ${decidedColumns}
        from unnest($1::uuid[], $2::float8[]) with ordinality as c(user_id, after_ms, place)
        join overlays o on o.user_id = c.user_id
        join parties r on r.user_id = c.user_id
        cross join lateral (select 'epoch'::timestamptz + c.after_ms * interval '1 ms' as after) f
        cross join lateral (
          select * from (
            (select 'tip' as kind, id as tip_id, confirmed_at as at from tips
             where recipient_party = r.id and status = 'confirmed' and confirmed_at > f.after
             order by confirmed_at limit ${streamPageSize})
            union all
            (select 'decision', tip_id, decided_at from tip_decisions
             where user_id = c.user_id and decided_at > f.after order by decided_at limit ${streamPageSize})
            union all select 'settings', null, o.changed_at where o.changed_at > f.after
            union all select 'test', null, o.tested_at
              where o.tested_at > f.after and o.tested_at > now() - interval '${testSeconds} s'
          ) one order by at limit ${streamPageSize}) x
        left join tips t on t.id = x.tip_id
        ${decidedJoins}
        order by x.at`,
      values: [reads.map(({ key }) => key), reads.map(({ cursor }) => cursor)],
    })
    // The rows of a place are of one creator.
    const presenters = new Map<number, (row: Row) => StreamEvent>()
    return pagesOf(reads, rows, (row) => {
      const present = presenters.get(row.place) ?? presenterOf(parseSettings(row.settings))
      presenters.set(row.place, present)
      return present(row)
    })
  },
  movedWithin(db, ms) {
    return query<Position>(db, {
      name: 'overlay.recent',
      text: /* sql */ `
        select p.user_id as key, (extract(epoch from c.last_at) * 1000)::float8 as cursor
        from creator_cursors c join parties p on p.id = c.party_id
        where c.last_at > now() - $1::float8 * interval '1 ms' and p.user_id is not null`,
      values: [ms],
    })
  },
}

/** The type of a change of settings names the token of then: who reads with another one may not go on. */
const settingsType = (token: string): string => `settings ${token}`

export function endsReading(token: string): (event: StreamEvent) => boolean {
  return ({ type }) => type.startsWith('settings ') && type !== settingsType(token)
}

/** What is not for the reader only moves the cursor. */
const unseen = 'unseen'
export const isForReader = ({ type }: StreamEvent): boolean => type !== unseen

function presenterOf(settings: OverlaySettings): (row: Row) => StreamEvent {
  const stateOf = judgeBy(settings)
  return (row) => presentRow(row, settings, stateOf(row))
}

function presentRow(row: Row, settings: OverlaySettings, state: TipState): StreamEvent {
  const cursor = row.at.getTime()
  const event = (type: string, data: object): StreamEvent => ({ cursor, type, text: eventText(data, cursor) })
  if (row.kind === 'settings')
    return event(settingsType(row.token), { type: 'settings', settings: lookOf(settings) })
  if (row.kind === 'test') return event('test', { type: 'test', valueUsd: row.testedUsd ?? 0 })
  const isShown = row.isConfirmed === true && isSeen(state)
  // A tip that had waited comes with its approval.
  if (isShown && row.announces === true ? row.kind === 'decision' : isShown && row.kind === 'tip')
    return event('tip', { type: 'tip', ...presentOverlayTip(row, state) })
  if (row.kind === 'decision' && !isShown) return event('removed', { type: 'removed', eventId: row.id })
  return { cursor, type: unseen, text: '' }
}

/** Where the reader of a token begins. Undefined: it is nobody's. */
export async function findOverlayStart(db: Knex, token: string): Promise<StreamStart | undefined> {
  if (!isOverlayToken(token)) return undefined
  const [row] = await query<{ userId: string; settings: object; newest: Date | null; now: Date }>(db, {
    name: 'overlay.start',
    text: /* sql */ `
      select o.user_id as "userId", o.settings, c.last_at as newest, clock_timestamp() as now
      from overlays o join parties p on p.user_id = o.user_id left join creator_cursors c on c.party_id = p.id
      where o.token = $1`,
    values: [token],
  })
  return (
    row && {
      key: row.userId,
      newest: row.newest?.getTime() ?? 0,
      connected: {
        status: 'connected',
        at: row.now.toISOString(),
        settings: lookOf(parseSettings(row.settings)),
      },
    }
  )
}
