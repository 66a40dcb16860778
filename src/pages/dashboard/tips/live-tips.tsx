import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { LinkButton } from '../../ui/controls/button.js'
import { Announcer } from '../../ui/messages/announcer.js'
import { Notice } from '../../ui/messages/notice.js'
import type { Rate, TipsPage } from '../answers.js'
import { useNow } from '../dates.js'
import { useDrawer } from '../parts/drawer.js'
import { ScreenLink } from '../parts/screen-link.js'
import { pathOf } from '../route.js'
import type { Loaded } from '../use-load.js'
import { useAnnouncement } from './announcements.js'
import { TipDrawer } from './tip-drawer.js'
import type { TipNews } from './tip-news.js'
import { TipRows } from './tip-row.js'

export const newestTipsPath = '/creators/tips?limit=12'

/** The newest tips as they arrive, with a pause button. */
export function LiveTips({
  news,
  version,
  tips: { data, fault, reload },
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
  const drawer = useDrawer()
  const open = data?.tips.find(({ signature }) => signature === drawer.open)
  const announcement = useAnnouncement(news)
  const now = useNow()
  const paused = pausedAt !== undefined
  const waiting = paused ? news.count - pausedAt : 0
  useEffect(() => {
    if (!paused && version > 0) reload()
  }, [version, paused, reload])
  return (
    <section class="card live" aria-labelledby="live-title">
      <header class="live__head">
        <h2 id="live-title">
          {words.live.title} <LiveMark connected={news.connected} paused={paused} />
        </h2>
        <button
          type="button"
          class="link"
          aria-pressed={paused}
          onClick={() => setPausedAt(paused ? undefined : news.count)}
        >
          {paused ? words.live.resume(waiting) : words.live.pause}
        </button>
      </header>
      <Announcer text={announcement} />
      {fault !== undefined && data === undefined && (
        <Notice tone="warn" icon="warn">
          {words.fault(fault)}
        </Notice>
      )}
      {data?.tips.length === 0 && <NoTips />}
      <TipRows tips={data?.tips ?? []} rate={rate} now={now} onOpen={(signature) => drawer.show(signature)} />
      {data !== undefined && data.tips.length > 0 && (
        <p>
          <ScreenLink to="tips">{words.live.all}</ScreenLink>
        </p>
      )}
      {open !== undefined && <TipDrawer tip={open} rate={rate} onGivenBack={reload} onClose={drawer.close} />}
    </section>
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
