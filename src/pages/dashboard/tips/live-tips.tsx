import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { spokenUsd } from '../../lib/tip-text.js'
import { Announcer, LinkButton, TextButton } from '../../ui/kit.js'
import type { TipsPage } from '../answers.js'
import { useThrottled } from '../dates.js'
import { Card } from '../parts/cards.js'
import { ScreenLink } from '../parts/links.js'
import { FaultNotice } from '../parts/notices.js'
import type { Loaded } from '../requests.js'
import { pathOf } from '../route.js'
import type { TipNews } from './news.js'
import { TipList } from './tip-list.js'

/** So many that a phone shows the balance below them. */
export const newestTipsPath = '/creators/tips?limit=6'

type LiveTipsProps = { news: TipNews; version: number; tips: Loaded<TipsPage> }

const tones = { on: 'good', off: 'warn', paused: 'plain' } as const

export function LiveTips({ news, version, tips: { data, unread, reload } }: LiveTipsProps) {
  const [pausedAt, setPausedAt] = useState<number>()
  const announcement = useAnnouncement(news)
  const paused = pausedAt !== undefined
  const state = paused ? 'paused' : news.connected ? 'on' : 'off'
  const waiting = paused ? news.count - pausedAt : 0
  useEffect(() => {
    if (!paused && version > 0) reload()
  }, [version, paused, reload])
  return (
    <Card
      name="live"
      title={
        <>
          {words.live.title}{' '}
          {news.connected !== undefined && (
            <span class={`status status--${tones[state]}`}>{words.live.states[state]}</span>
          )}
        </>
      }
      beside={
        <TextButton
          aria-pressed={paused}
          text={paused ? words.live.resume(waiting) : words.live.pause}
          onPress={() => setPausedAt(paused ? undefined : news.count)}
        />
      }
    >
      <Announcer text={announcement} />
      <FaultNotice fault={unread} tone="warn" />
      {data?.tips.length === 0 && <NoTips />}
      <TipList tips={data?.tips ?? []} onGivenBack={reload} onDecided={reload} />
      {data !== undefined && data.tips.length > 0 && (
        <p>
          <ScreenLink to="tips">{words.live.all}</ScreenLink>
        </p>
      )}
    </Card>
  )
}

export function NoTips() {
  return (
    <div class="empty">
      <p>{words.tips.none}</p>
      <div class="wrap">
        <LinkButton href={pathOf('page')} text={words.tips.noneLink} />
        <LinkButton href={pathOf('overlay')} text={words.tips.noneOverlay} />
      </div>
    </div>
  )
}

/** Screen readers hear of new tips at most this often. */
const minPauseMs = 5000

/** The text for the live region: the newest tip, and how many tips came since the last announcement. */
function useAnnouncement({ latest, ...news }: TipNews): string {
  const [text, setText] = useState('')
  const count = useThrottled(news.count, minPauseMs)
  const announced = useRef(0)
  useEffect(() => {
    const fresh = count - announced.current
    if (latest === undefined || fresh <= 0) return
    announced.current = count
    setText(words.live.announcement(fresh, spokenUsd(latest.valueUsd), latest.sender))
    // Only a new count is news.
  }, [count])
  return text
}
