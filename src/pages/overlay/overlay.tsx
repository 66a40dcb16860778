import { useEffect, useState } from 'preact/hooks'
import { words } from '../i18n/overlay.js'
import { testChannel } from '../lib/browser.js'
import { followTips } from '../lib/follow-tips.js'
import { AlertCard } from './alert.js'
import type { Parameters } from './parameters.js'
import { type Phase, Player } from './player.js'
import type { Alert, Tip } from './queue.js'

/** After so long without a connection a dot appears. */
const dotDelayMs = 60_000

interface Shown {
  readonly alert: Alert
  readonly phase: Phase
}

/** The page that a streaming program shows over its picture. It runs for as long as the program does. */
export function Overlay({ parameters, wallet }: { parameters: Parameters; wallet: string }) {
  const [shown, setShown] = useState<Shown>()
  const [fault, setFault] = useState<string>()
  const [disconnected, setDisconnected] = useState(false)
  useEffect(() => {
    const stop = new AbortController()
    const player = createPlayer(parameters, wallet, setShown)
    const dot = createDot(setDisconnected, stop.signal)
    followTips({
      wallet,
      signal: stop.signal,
      lastEventId: () => player.cursor,
      onTip: (tip) => player.add(tip),
      onConnected(serverTime) {
        dot.connected()
        if (serverTime !== undefined) player.startAt(String(serverTime.getTime()))
      },
      onDisconnected: dot.disconnected,
    }).catch(() => setFault(words.badWallet))
    dot.disconnected()
    onTestAlert(wallet, (tip) => player.add(tip), stop.signal)
    if (parameters.preview) player.add(sampleTip())
    if (parameters.test) sampleEveryTenSeconds((tip) => player.add(tip), stop.signal)
    if (parameters.hold) onSourceActiveChanged((active) => player.hold(!active))
    return () => stop.abort()
  }, [parameters, wallet])
  return (
    <>
      {fault !== undefined && <p class="fault">{fault}</p>}
      {shown !== undefined && <AlertCard {...shown} parameters={parameters} />}
      {disconnected && parameters.dot && <i class="dot" />}
    </>
  )
}

function createPlayer(
  parameters: Parameters,
  wallet: string,
  setShown: (shown: Shown | undefined) => void,
): Player {
  const begin = parameters.preview
    ? { cursor: undefined, shown: [] }
    : { cursor: readCursor(wallet), shown: readShown(wallet) }
  let last: Alert | undefined
  return new Player(parameters, begin, {
    show(alert, phase) {
      setShown(alert && { alert, phase })
      if (phase === 'enter' && alert !== undefined) {
        if (parameters.sound) playChime(parameters.volume)
        dispatchAlert('tip:show', alert)
      }
      if (alert === undefined && last !== undefined) dispatchAlert('tip:hide', last)
      last = alert
    },
    saveCursor: (next, shown) => {
      if (!parameters.preview) saveCursor(wallet, next, shown)
    },
  })
}

/** For scripts that a creator adds to the page in the streaming program. */
function dispatchAlert(name: string, alert: Alert): void {
  window.dispatchEvent(new CustomEvent(name, { detail: alert.kind === 'tip' ? alert.tip : alert.more }))
}

/** OBS dispatches this event when the source becomes part of the output or stops being it. Other browsers never do. */
function onSourceActiveChanged(changed: (active: boolean) => void): void {
  window.addEventListener('obsSourceActiveChanged', (event) => {
    const detail: unknown = event instanceof CustomEvent ? event.detail : undefined
    if (typeof detail !== 'object' || detail === null || !('active' in detail)) return
    changed(detail.active === true)
  })
}

function createDot(setDisconnected: (disconnected: boolean) => void, signal: AbortSignal) {
  let timer: ReturnType<typeof setTimeout> | undefined
  const clear = (): void => {
    clearTimeout(timer)
    timer = undefined
  }
  signal.addEventListener('abort', clear)
  return {
    connected(): void {
      clear()
      setDisconnected(false)
    },
    disconnected(): void {
      timer ??= setTimeout(() => setDisconnected(true), dotDelayMs)
    },
  }
}

/** Two rising tones in half a second, synthesized, so no file is loaded. Silent in browsers that block sound before a click. */
function playChime(volume: number): void {
  const context = new AudioContext()
  const start = context.currentTime
  tone(context, 880, start, volume)
  tone(context, 1318.5, start + 0.12, volume)
  setTimeout(() => void context.close(), 1500)
}

function tone(context: AudioContext, frequency: number, start: number, volume: number): void {
  const oscillator = context.createOscillator()
  const gain = context.createGain()
  oscillator.frequency.value = frequency
  gain.gain.setValueAtTime(0, start)
  gain.gain.linearRampToValueAtTime(volume * 0.5, start + 0.02)
  gain.gain.exponentialRampToValueAtTime(0.0001, start + 0.5)
  oscillator.connect(gain).connect(context.destination)
  oscillator.start(start)
  oscillator.stop(start + 0.5)
}

const key = (wallet: string): string => `overlay:${wallet}`
const shownKey = (wallet: string): string => `overlay-shown:${wallet}`

/** The tips that were shown last. After a restore of the service a tip may come again with a later id. */
function readShown(wallet: string): string[] {
  try {
    const saved: unknown = JSON.parse(localStorage.getItem(shownKey(wallet)) ?? '[]')
    return Array.isArray(saved) ? saved.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

/** The cursor that the last page load saved; undefined on the first load, or without storage. */
function readCursor(wallet: string): string | undefined {
  try {
    const saved = localStorage.getItem(key(wallet))
    return saved !== null && /^\d{1,15}$/.test(saved) ? saved : undefined
  } catch {
    return undefined
  }
}

function saveCursor(wallet: string, cursor: string, shown: readonly string[]): void {
  try {
    localStorage.setItem(key(wallet), cursor)
    localStorage.setItem(shownKey(wallet), JSON.stringify(shown))
  } catch {
    // Without storage the overlay still shows the tips that arrive while it is open.
  }
}

const everyMs = 10_000

/** A sample tip has no id, so it does not move the cursor. */
function sampleTip(): Tip {
  return {
    id: undefined,
    amount: 5,
    tokenSymbol: 'USDC',
    sender: words.sampleSender,
    message: words.sampleMessage,
    timestamp: new Date().toISOString(),
    valueUsd: 5,
  }
}

/** Adds a sample when the dashboard in the same browser sends a test alert. */
function onTestAlert(wallet: string, add: (tip: Tip) => void, signal: AbortSignal): void {
  const channel = new BroadcastChannel(testChannel(wallet))
  channel.addEventListener('message', () => add(sampleTip()))
  signal.addEventListener('abort', () => channel.close())
}

function sampleEveryTenSeconds(add: (tip: Tip) => void, signal: AbortSignal): void {
  add(sampleTip())
  const timer = setInterval(() => add(sampleTip()), everyMs)
  signal.addEventListener('abort', () => clearInterval(timer))
}
