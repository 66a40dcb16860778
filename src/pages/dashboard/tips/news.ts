import { createContext } from 'preact'
import { useContext, useEffect, useRef, useState } from 'preact/hooks'
import type { StreamedTip } from '../../../sdk/client/stream.js'
import { words } from '../../i18n/dashboard.js'
import { followTips } from '../../lib/follow.js'
import { usd } from '../../lib/money.js'
import { cut, senderText } from '../../lib/tip-text.js'
import { useThrottled } from '../dates.js'

/** The tips that the stream delivered since the page was opened. */
export interface TipNews {
  readonly count: number
  readonly latest: StreamedTip | undefined
  /** Undefined until the first connection succeeds or fails. */
  readonly connected: boolean | undefined
}

const none: TipNews = { count: 0, latest: undefined, connected: undefined }
const TipNewsContext = createContext(none)
/** Gives the news to all screens: the dashboard has one stream. */
export const TipNewsProvider = TipNewsContext.Provider

export function useTipNews(wallet: string | null): TipNews {
  const [news, setNews] = useState(none)
  useEffect(() => {
    if (wallet === null) return
    const stop = new AbortController()
    let cursor: string | undefined
    const connected = (is: boolean): void => setNews((before) => ({ ...before, connected: is }))
    followTips({
      wallet,
      signal: stop.signal,
      lastEventId: () => cursor,
      onTip(tip) {
        cursor = tip.id
        setNews((before) => ({ ...before, count: before.count + 1, latest: tip }))
      },
      onConnected: () => connected(true),
      onDisconnected: () => connected(false),
    }).catch(() => connected(false))
    return () => stop.abort()
  }, [wallet])
  return news
}

/** The same, counted from when the screen was opened. */
export function useNewsOfScreen(): TipNews {
  const news = useContext(TipNewsContext)
  const [before] = useState(news.count)
  return { ...news, count: news.count - before }
}

/** How many tips came since the page was last looked at. */
export function useUnseen(count: number): number {
  const [seen, see] = useState(count)
  useEffect(() => {
    const look = (): void => {
      if (!document.hidden) see(count)
    }
    look()
    document.addEventListener('visibilitychange', look)
    return () => document.removeEventListener('visibilitychange', look)
  }, [count])
  return count - seen
}

/** How this browser tells of new tips. */
export interface Tellings {
  readonly notices: boolean
  readonly sound: boolean
}

const key = 'tellings'

export function readTellings(): Tellings {
  const stored = (localStorage.getItem(key) ?? '').split(' ')
  return { notices: stored.includes('notices'), sound: stored.includes('sound') }
}

export function storeTellings(tellings: Tellings): void {
  const chosen = Object.entries(tellings).flatMap(([name, on]) => (on ? [name] : []))
  localStorage.setItem(key, chosen.join(' '))
}

/** Tips that come faster are told together. */
const minPauseMs = 3000
const senderLength = 40
const messageLength = 120

/** Plays a sound and shows a notice of the system for new tips, as the person has chosen; a notice only while nobody looks. */
export function useTellings(news: TipNews): void {
  const count = useThrottled(news.count, minPauseMs)
  const told = useRef(0)
  useEffect(() => {
    const fresh = count - told.current
    told.current = count
    const { latest } = news
    if (latest === undefined || fresh <= 0) return
    const { notices, sound } = readTellings()
    if (sound) playTone()
    if (!notices || !document.hidden) return
    const said = latest.message ? `“${cut(latest.message, messageLength)}”` : ''
    const body = `${senderText(latest.senderName ?? latest.sender, senderLength)} ${said}`.trim()
    showNotice(words.telling.notice(fresh, usd(latest.valueUsd)), body)
    // Only a new count is news.
  }, [count])
}

/** A short tone, synthesized, so no file is loaded. Silent in browsers that block sound before a click. */
export function playTone(): void {
  const context = new AudioContext()
  const tone = context.createOscillator()
  const gain = context.createGain()
  gain.gain.value = 0.2
  tone.frequency.value = 880
  tone.connect(gain).connect(context.destination)
  tone.onended = () => void context.close()
  tone.start()
  tone.stop(context.currentTime + 0.25)
}

/** Shows a notice of the system. False: this browser cannot, as those of Android, or may not. */
export function showNotice(title: string, body: string): boolean {
  try {
    if (Notification.permission !== 'granted') return false
    const notice = new Notification(title, { body, tag: 'tip' })
    notice.onclick = () => window.focus()
    return true
  } catch {
    return false
  }
}
