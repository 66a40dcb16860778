import type { Knex } from 'knex'
import { displayNumber } from '../kernel/money.js'
import { query } from '../platform/database/database.js'
import { tipsSince } from '../tips/read/daily-sums.js'
import { valueUsd, withheldName } from '../tips/read/present.js'
import { type DecidedTip, isSeen, judgeBy, presentOverlayTip, readNewest } from './judge.js'
import type { Figures, OverlaySettings } from './schemas.js'

const dayMs = 24 * 3600 * 1000
/** Rows of a widget. */
const mostRows = 10

/** What the widgets of an overlay show. Tips that wait or are held count nowhere, those without words only in sums of nobody. */
export async function readFigures(
  db: Knex,
  { userId, settings }: { readonly userId: string; readonly settings: OverlaySettings },
): Promise<Figures> {
  const stateOf = judgeBy(settings)
  const tips = (await readNewest(db, userId)).flatMap((tip) => {
    const state = stateOf(tip)
    return isSeen(state) ? [{ tip, state }] : []
  })
  const since = Date.now() - settings.topDays * dayMs
  const named = tips.filter(({ tip, state }) => state === 'shown' && tip.confirmedAt.getTime() >= since)
  return {
    goal: await readGoal(db, userId),
    top: largest(named.map(({ tip }) => tip)),
    latest: tips.slice(0, mostRows).map(({ tip, state }) => presentOverlayTip(tip, state)),
  }
}

/** The goal of the creator's public page, and how far it is. */
async function readGoal(db: Knex, userId: string): Promise<Figures['goal']> {
  const [goal] = await query<{ title: string; cents: bigint; since: Date }>(db, {
    name: 'overlay.goal',
    text: /* sql */ `
      select goal_title as title, goal_cents as cents, goal_since as since from creator_pages
      where user_id = $1 and goal_title is not null`,
    values: [userId],
  })
  if (goal === undefined) return null
  const raisedUsd = await tipsSince(db, userId, goal.since)
  return { title: goal.title, amountUsd: displayNumber(goal.cents, 2), raisedUsd }
}

/** Who gave most. A wallet is one supporter, by its newest name; who pays naira is known by the name alone. */
function largest(newestFirst: readonly DecidedTip[]): Figures['top'] {
  const sums = new Map<string, { name: string; cents: number }>()
  for (const tip of newestFirst) {
    if (tip.mint === null && tip.sender === withheldName) continue
    const key = `${tip.mint === null} ${tip.sender}`
    const sum = sums.get(key) ?? { name: tip.senderName ?? tip.sender, cents: 0 }
    sums.set(key, { ...sum, cents: sum.cents + Math.round(valueUsd(tip) * 100) })
  }
  return [...sums.values()]
    .toSorted((a, b) => b.cents - a.cents)
    .slice(0, mostRows)
    .map(({ name, cents }) => ({ name, valueUsd: cents / 100 }))
}
