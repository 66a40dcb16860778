import { isDeepStrictEqual } from 'node:util'
import type { Decision } from '../../src/overlay/schemas.js'
import type { OverlayPage } from '../kit/overlay-page.js'
import { countBy, type Report } from '../kit/report.js'

/** A tip of the run, and what its creator does with it. */
export interface GivenTip {
  readonly nth: number
  readonly message: string | null
  readonly waits: boolean
  readonly decisions: readonly { readonly decision: Decision; readonly afterMs: number }[]
  id: string
  /** Its place in the stream, once overlays may show it, and when that was committed. */
  stamp?: number
  visibleAt?: number
  /** When it was committed that they may not any more. */
  takenAwayAt?: number
}

interface Run {
  readonly tips: readonly GivenTip[]
  readonly pages: readonly OverlayPage[]
  /** It was opened when all was over, under the settings of then, and has read the whole stream. */
  readonly late: OverlayPage
  readonly counts: { readonly kills: number; readonly restarts: number; readonly loads: number }
  readonly faults: readonly string[]
}

/** Words that were read just before they were deleted may still be on their way. */
const onTheirWayMs = 5000
const mostLines = 20

/** Compares what overlays were told and have shown with what their creator was given and has decided. */
export function judgeOverlays({ tips, pages, late, counts, faults }: Run): Report {
  const visible = tips
    .filter(({ stamp }) => stamp !== undefined)
    .toSorted((a, b) => Number(a.stamp) - Number(b.stamp))
  const all = [
    ...new Set(faults),
    ...(counts.kills + counts.restarts > 0 ? [] : ['no web process was killed or restarted']),
    ...pages.flatMap((page, nth) => {
      const found = [...page.faults, ...toldFaults(page, tips), ...shownFaults(page, visible)]
      return found.map((fault) => `overlay ${nth + 1} ${fault}`)
    }),
    ...lateFaults(late, visible),
  ]
  const delays = pages.flatMap((page) => delaysOf(page, tips)).sort((a, b) => a - b)
  const delayAt = (part: number): number =>
    delays[Math.min(delays.length - 1, Math.floor(delays.length * part))] ?? 0
  const seen = tips.flatMap(({ visibleAt }) => visibleAt ?? [])
  const seconds = (Math.max(...seen) - Math.min(...seen)) / 1000
  const sum = (of: (page: OverlayPage) => number): number =>
    pages.reduce((before, page) => before + of(page), 0)
  const count = (is: (tip: GivenTip) => boolean): number => tips.filter(is).length
  return {
    rows: [
      ['tips', tips.length],
      ['of them a second', (tips.length / seconds).toFixed(1)],
      ['of them waited', count(({ waits }) => waits)],
      ['approved', count(({ waits, stamp }) => waits && stamp !== undefined)],
      ['held or hidden', count(({ takenAwayAt }) => takenAwayAt !== undefined)],
      ['owed to each overlay', count((tip) => tip.stamp !== undefined && tip.takenAwayAt === undefined)],
      ['shown by all overlays', sum(({ shown }) => shown.length)],
      ['web processes killed, restarted', `${counts.kills}, ${counts.restarts}`],
      ['pages loaded again', counts.loads],
      ['connections', sum(({ connections }) => connections)],
      ['told on a connection from before the commit', delays.length],
      ['behind the commit there, ms: p50, p99, most', [0.5, 0.99, 1].map(delayAt).join(', ')],
    ],
    faults: all.length > mostLines ? [...all.slice(0, mostLines), `and ${all.length - mostLines} more`] : all,
    kept: 'every overlay has shown each alert once, alone and in order, and nothing that was held or hidden',
  }
}

/** What the stream has sent to a page. */
function toldFaults({ told, removed }: OverlayPage, tips: readonly GivenTip[]): string[] {
  const byId = new Map(tips.map((tip) => [tip.id, tip]))
  return told.flatMap(({ eventId, stamp, message, at }) => {
    const tip = byId.get(eventId)
    if (tip === undefined) return [`was told of ${eventId}, which nobody gave`]
    const name = nameOf(tip)
    const { takenAwayAt = at } = tip
    if (tip.stamp === undefined) return [`was told of ${name}, which was never to be shown`]
    return [
      ...(tip.stamp === stamp ? [] : [`was told of ${name} at ${stamp} instead of ${tip.stamp}`]),
      ...(tip.message === message ? [] : [`was told of ${name} with other words`]),
      ...(at - takenAwayAt <= onTheirWayMs
        ? []
        : [`was told of ${name} ${at - takenAwayAt} ms after it was taken away`]),
      ...(tip.takenAwayAt === undefined || removed.has(eventId)
        ? []
        : [`was not told that ${name} is taken away`]),
    ]
  })
}

/** What its viewers saw. What was taken away may have been seen before. */
function shownFaults({ shown, summedUp }: OverlayPage, visible: readonly GivenTip[]): string[] {
  const times = countBy(shown)
  const owed = visible.filter(({ id, takenAwayAt }) => takenAwayAt === undefined || times[id] !== undefined)
  const miscounted = owed.filter(({ id }) => times[id] !== 1)
  const faults = miscounted.map((tip) => `has shown ${nameOf(tip)} ${times[tip.id] ?? 0} times`)
  if (summedUp > 0) faults.push(`has summed up ${summedUp} tips, because its queue was full`)
  if (faults.length > 0) return faults
  const wrong = owed.findIndex(({ id }, place) => shown[place] !== id)
  return wrong === -1 ? [] : [`did not show ${nameOf(owed[wrong] as GivenTip)} in its place`]
}

/** All tips with words wait now that are not approved. */
function lateFaults({ told, faults }: OverlayPage, visible: readonly GivenTip[]): string[] {
  const owed = visible.filter(
    ({ message, decisions, takenAwayAt }) =>
      takenAwayAt === undefined &&
      (message === null || decisions.some(({ decision }) => decision === 'approve')),
  )
  const same = isDeepStrictEqual(
    told.map(({ eventId, stamp }) => [eventId, stamp]),
    owed.map(({ id, stamp }) => [id, stamp]),
  )
  const found = same
    ? faults
    : [...faults, `was told of ${told.length} tips instead of ${owed.length}, or in another order`]
  return found.map((fault) => `an overlay that was opened at the end ${fault}`)
}

/** In ms, where the connection was there before the commit, and so no restart was in between. */
function delaysOf({ told }: OverlayPage, tips: readonly GivenTip[]): number[] {
  const visibleAt = new Map(tips.map((tip) => [tip.id, tip.visibleAt]))
  return told.flatMap(({ eventId, at, connectedAt }) => {
    const committedAt = visibleAt.get(eventId)
    return committedAt === undefined || connectedAt >= committedAt ? [] : [Math.max(0, at - committedAt)]
  })
}

function nameOf({ nth, message, decisions }: GivenTip): string {
  const words = message === null ? 'no words' : `"${message}"`
  return `tip ${nth} (${[words, ...decisions.map(({ decision }) => decision)].join(', ')})`
}
