import type { Knex } from 'knex'
import { DomainError } from '../kernel/errors.js'
import { query, write } from '../platform/database/database.js'
import type { Services } from '../services.js'
import { hideWords } from '../tips/hide-words.js'
import { takeStamp } from '../tips/take-stamp.js'
import {
  type DecidedTip,
  decidedColumns,
  decidedJoins,
  isSeen,
  judgeBy,
  presentOverlayTip,
  readNewest,
} from './judge.js'
import { readOverlay } from './overlay.js'
import type { Decision, JudgedTip, TipState } from './schemas.js'

type Needs = Pick<Services, 'db' | 'transact'>

const stored = { approve: 'approved', hold: 'held', hide: 'hidden' } as const
/** Tips in a list of the dashboard. */
const mostWaiting = 100
const mostLatest = 20

/**
 * A creator's decision about a tip: see `decisionInput`. Words that were hidden stay hidden. Open overlays are told. Throws
 * `tip_not_found`.
 */
export async function decideTip(
  services: Needs,
  userId: string,
  { signature, decision }: { readonly signature: string; readonly decision: Decision },
): Promise<TipState> {
  const stateOf = judgeBy((await readOverlay(services, userId)).settings)
  return services.transact(async (uow) => {
    const tips = await lockTips(uow.trx, userId, signature, decision)
    const [tip] = tips
    if (tip === undefined) throw new DomainError('tip_not_found')
    const isFinal = tip.decision === 'hidden' || tip.decision === stored[decision]
    if (isFinal) return stateOf(tip)
    const waited = !isSeen(stateOf(tip))
    for (const { tipId } of tips) {
      const at = await takeStamp(uow, userId)
      await write(uow.trx, {
        name: 'tip_decisions.store',
        text: /* sql */ `
          insert into tip_decisions as d (tip_id, user_id, state, announces, decided_at) values ($1, $2, $3, $4, $5)
          on conflict (tip_id) do update set state = excluded.state, announces = d.announces or excluded.announces,
            decided_at = excluded.decided_at`,
        values: [tipId, userId, stored[decision], decision === 'approve' && waited, at],
      })
    }
    if (decision === 'hide')
      await hideWords(
        uow.trx,
        userId,
        tips.map(({ tipId }) => tipId),
      )
    return stateOf({ ...tip, decision: stored[decision] })
  })
}

/**
 * The rows of a tip that this creator received: usually one, but a transaction may have paid two wallets of theirs. They are locked before
 * they are read, so that who waited sees the decision of who was first. Of unpaid tips only the words can be hidden.
 */
async function lockTips(
  trx: Knex.Transaction,
  userId: string,
  signature: string,
  decision: Decision,
): Promise<(DecidedTip & { readonly tipId: string })[]> {
  const locked = await query<{ id: string }>(trx, {
    name: 'tip_decisions.lock',
    text: /* sql */ `
      select t.id from tips t
      where (t.id = $2 or t.main_id = $2) and t.recipient_party = (select id from parties where user_id = $1)
        and (t.status = 'confirmed' or (t.kind = 'fiat' and $3 = 'hide'))
      order by t.id for no key update`,
    values: [userId, signature, decision],
  })
  return query(trx, {
    name: 'tip_decisions.read',
    text: /* sql */ `
      select ${decidedColumns}, t.id as "tipId" from tips t join parties r on r.id = t.recipient_party ${decidedJoins}
      where t.id = any($1::text[]) order by t.id`,
    values: [locked.map(({ id }) => id)],
  })
}

/** What waits for a decision, and the newest tips. */
export async function listJudged(
  services: Needs,
  userId: string,
): Promise<{ readonly waiting: JudgedTip[]; readonly latest: JudgedTip[] }> {
  const stateOf = judgeBy((await readOverlay(services, userId)).settings)
  const tips = await readNewest(services.db, userId)
  const judged = tips.map((tip) => ({ tip, state: stateOf(tip) }))
  const present = ({ tip, state }: (typeof judged)[number]): JudgedTip => {
    return { ...presentOverlayTip(tip, 'shown'), state }
  }
  const waiting = judged.filter(({ state }) => state === 'waiting').toReversed()
  return {
    waiting: waiting.slice(0, mostWaiting).map(present),
    latest: judged.slice(0, mostLatest).map(present),
  }
}
