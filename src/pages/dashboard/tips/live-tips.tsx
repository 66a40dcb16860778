import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { LinkButton } from '../../ui/controls/button.js'
import { Announcer } from '../../ui/messages/announcer.js'
import type { Rate, TipsPage } from '../answers.js'
import { Card } from '../parts/cards.js'
import { ScreenLink, TextButton } from '../parts/links.js'
import { FaultNotice } from '../parts/notices.js'
import type { Loaded } from '../requests.js'
import { pathOf } from '../route.js'
import { TipList } from './tip-list.js'
import { type TipNews, useAnnouncement } from './tip-news.js'

export const newestTipsPath = '/creators/tips?limit=12'

/** The newest tips as they arrive, with a pause button. */
export function LiveTips({
  news,
  version,
  tips: { data, unread, reload },
  rate,
}: {
  readonly news: TipNews
  /** A new version reads the list again. */
  readonly version: number
  /** Of `newestTipsPath`. */
  readonly tips: Loaded<TipsPage>
  readonly rate: Rate | undefined
}): JSX.Element {
  const [pausedAt, setPausedAt] = useState<number>()
  const announcement = useAnnouncement(news)
  const paused = pausedAt !== undefined
  const waiting = paused ? news.count - pausedAt : 0
  useEffect(() => {
    if (!paused && version > 0) reload()
  }, [version, paused, reload])
  return (
    <Card
      name="live"
      class="live"
      title={
        <>
          {words.live.title} <LiveMark connected={news.connected} paused={paused} />
        </>
      }
      beside={
        <TextButton aria-pressed={paused} onPress={() => setPausedAt(paused ? undefined : news.count)}>
          {paused ? words.live.resume(waiting) : words.live.pause}
        </TextButton>
      }
    >
      <Announcer text={announcement} />
      <FaultNotice fault={unread} tone="warn" />
      {data?.tips.length === 0 && <NoTips />}
      <TipList tips={data?.tips ?? []} rate={rate} onGivenBack={reload} />
      {data !== undefined && data.tips.length > 0 && (
        <p>
          <ScreenLink to="tips">{words.live.all}</ScreenLink>
        </p>
      )}
    </Card>
  )
}

function LiveMark({
  connected,
  paused,
}: {
  readonly connected: boolean | undefined
  readonly paused: boolean
}): JSX.Element | null {
  if (connected === undefined) return null
  const state = paused ? 'paused' : connected ? 'on' : 'off'
  return <span class={`mark mark--${state}`}>{words.live.states[state]}</span>
}

/** Shown before the first tip: links to the checkout and the overlay. */
export function NoTips(): JSX.Element {
  return (
    <div class="empty">
      <p>{words.tips.none}</p>
      <div class="empty__acts">
        <LinkButton href={pathOf('developers')}>{words.tips.noneCheckout}</LinkButton>
        <LinkButton href={pathOf('overlay')}>{words.tips.noneOverlay}</LinkButton>
      </div>
    </div>
  )
}
