import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../i18n/overlay.js'
import { AlertCard, spokenText } from './alert.js'
import { applyLook, lookFor, type OverlayLook } from './look.js'
import { readMemory, saveMemory } from './memory.js'
import { type Phase, Player } from './player.js'
import type { Alert, Tip } from './queue.js'
import { playSound, speak } from './sounds.js'
import type { Source } from './source.js'

/** After so long without a connection a dot appears. */
const dotDelayMs = 60_000

interface Shown {
  readonly alert: Alert
  readonly phase: Phase
}

interface OverlayProps {
  readonly source: Source
  /** Until the source has told its own. */
  readonly first: OverlayLook
  /** Shows a sample at once and after each change of the settings, and remembers nothing: an overlay in the same browser does. */
  readonly preview: boolean
  /** Shows a sample every ten seconds. */
  readonly test?: boolean
}

/** The page that a streaming program shows over its picture. It runs for as long as the program does. */
export function Overlay({ source, first, preview, test = false }: OverlayProps) {
  const [shown, setShown] = useState<Shown>()
  const [fault, setFault] = useState<string>()
  const [disconnected, setDisconnected] = useState(false)
  const [settings, setSettings] = useState(first)
  const current = useRef(settings)
  useEffect(() => {
    const stop = new AbortController()
    const player = createPlayer(source.key, { preview, settings: current, show: setShown })
    const dot = createDot(setDisconnected, stop.signal)
    const onSettings = (changed: OverlayLook): void => {
      current.current = changed
      player.settings = changed
      applyLook(changed)
      setSettings(changed)
      if (preview) player.replace(sampleTip(changed))
    }
    onSettings(first)
    source.start(
      {
        lastEventId: () => player.cursor,
        onConnected(atMs, cursor) {
          dot.connected()
          player.connected(atMs, cursor)
        },
        onDisconnected: dot.disconnected,
        onTip: (tip) => player.add(tip),
        onSettings,
        // With its id: a page that is loaded again does not show it again.
        onTest: (usd, id) => player.add({ ...sampleTip(current.current, usd), id }),
        onRemoved: (eventId) => player.remove(eventId),
        onFault: setFault,
      },
      stop.signal,
    )
    dot.disconnected()
    if (test) sampleEveryTenSeconds(() => player.add(sampleTip(current.current)), stop.signal)
    onSourceActiveChanged((active) => player.hold(!active && current.current.hold))
    return () => stop.abort()
  }, [source, first, preview, test])
  return (
    <>
      {fault !== undefined && <p class="fault">{fault}</p>}
      {shown !== undefined && <AlertCard {...shown} settings={settings} />}
      {disconnected && settings.dot && <i class="dot" />}
    </>
  )
}

interface PlayerOptions {
  readonly preview: boolean
  readonly settings: { readonly current: OverlayLook }
  readonly show: (shown: Shown | undefined) => void
}

function createPlayer(key: string, { preview, settings, show }: PlayerOptions): Player {
  let last: Alert | undefined
  return new Player(settings.current, preview ? { cursor: undefined, shown: [] } : readMemory(key), {
    show(alert, phase) {
      show(alert && { alert, phase })
      if (phase === 'enter' && alert !== undefined) {
        sound(alert, settings.current)
        dispatchAlert('tip:show', alert)
      }
      if (alert === undefined && last !== undefined) dispatchAlert('tip:hide', last)
      last = alert
    },
    saveCursor: (cursor, shown) => {
      if (!preview) saveMemory(key, cursor, shown)
    },
  })
}

function sound(alert: Alert, settings: OverlayLook): void {
  const usd = alert.kind === 'tip' ? alert.tip.valueUsd : 0
  playSound(lookFor(settings, usd).sound, settings.volume)
  const { enabled, fromUsd } = settings.speech
  if (enabled && alert.kind === 'tip' && usd >= fromUsd)
    speak(spokenText(alert.tip, settings), settings.volume)
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

const everyMs = 10_000
const sampleUsd = 5

/** It is worth the smallest amount that is announced, where that is more. */
function sampleTip({ minUsd }: OverlayLook, usd = Math.max(minUsd, sampleUsd)): Tip {
  return {
    id: undefined,
    isSample: true,
    amount: usd,
    tokenSymbol: 'USDC',
    sender: words.sampleSender,
    message: words.sampleMessage,
    timestamp: new Date().toISOString(),
    valueUsd: usd,
  }
}

function sampleEveryTenSeconds(show: () => void, signal: AbortSignal): void {
  show()
  const timer = setInterval(show, everyMs)
  signal.addEventListener('abort', () => clearInterval(timer))
}
