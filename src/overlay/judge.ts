import type { Knex } from 'knex'
import { query } from '../platform/database/database.js'
import { confirmedColumns, type PricedTip, presentTipEvent, withheldName } from '../tips/read/present.js'
import { filterOf } from './filter.js'
import type { OverlaySettings, TipState } from './schemas.js'

/** A confirmed tip with what its creator has decided about it. */
export interface DecidedTip extends PricedTip {
  readonly decision: 'approved' | 'held' | 'hidden' | null
  readonly announces: boolean | null
}

/** `t`: the tip, `r`, `s`: its parties, `d`: the decision. */
export const decidedColumns = /* sql */ `${confirmedColumns}, p.usd, d.state as decision, d.announces`
export const decidedJoins = /* sql */ `
  left join tip_decisions d on d.tip_id = t.id left join parties s on s.id = t.sender_party left join prices p on p.mint = t.mint`

/** Tips that the lists of this feature read. */
const mostRead = 1000

/** The newest confirmed tips of a creator, newest first. */
export function readNewest(db: Knex, userId: string): Promise<DecidedTip[]> {
  return query<DecidedTip>(db, {
    name: 'overlay.newest',
    text: /* sql */ `
      select ${decidedColumns}
      from parties r
      cross join lateral (
        select * from tips where recipient_party = r.id and status = 'confirmed' order by confirmed_at desc limit ${mostRead}) t
      ${decidedJoins}
      where r.user_id = $1 order by t.confirmed_at desc`,
    values: [userId],
  })
}

/** What decides whether strangers see the words of a tip. */
type Judged = Pick<DecidedTip, 'mint' | 'sender' | 'senderName' | 'message' | 'decision'>

/** What overlays and pages do with a tip by these settings. A decision of the creator counts more. Made once for many tips. */
export function judgeBy({ approval, filter }: OverlaySettings): (tip: Judged) => TipState {
  const isFiltered = filterOf(filter)
  return (tip) => {
    if (tip.decision !== null) return tip.decision === 'approved' ? 'shown' : tip.decision
    const texts = wordsOf(tip)
    if (texts.length === 0) return 'shown'
    if (approval === 'all') return 'waiting'
    if (!texts.some(isFiltered)) return 'shown'
    return approval === 'filtered' ? 'waiting' : 'without_words'
  }
}

/** Whether the tip is seen, with its words or without them. */
export function isSeen(state: TipState): boolean {
  return state === 'shown' || state === 'without_words'
}

/** What a stranger has written: a wallet as the sender is none, and neither is the name of who gives none. */
function wordsOf({ mint, sender, senderName, message }: Judged): string[] {
  const name = mint === null && sender !== withheldName ? sender : senderName
  return [name, message].filter((text) => text !== null)
}

/** The tip as overlays get it. */
export function presentOverlayTip(tip: DecidedTip, state: TipState) {
  const withheld = {
    ...tip,
    message: null,
    senderName: null,
    sender: tip.mint === null ? withheldName : tip.sender,
  }
  const { type: _, ...shown } = presentTipEvent(state === 'without_words' ? withheld : tip)
  return shown
}
