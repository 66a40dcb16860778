import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { words } from '../i18n/overlay.js'
import { followTips } from '../lib/live.js'
import { AlertCard } from './alert.js'
import { playChime } from './chime.js'
import { keepCursor, keptCursor } from './cursor.js'
import type { Parameters } from './parameters.js'
import { type Phase, Player } from './player.js'
import type { Alert } from './queue.js'
import { listenForTests, sample, sampleEveryTenSeconds } from './samples.js'
import { whileSeen } from './streaming-program.js'

/** A minute without a connection is worth a word to whoever runs the stream. */
const dotAfterMs = 60_000

interface Shown {
  readonly alert: Alert
  readonly phase: Phase
}

/** The page a streaming program lays over its picture. It is never finished and never gives up. */
export function Overlay({
  parameters,
  wallet,
}: {
  readonly parameters: Parameters
  readonly wallet: string
}): JSX.Element {
  const [shown, setShown] = useState<Shown>()
  const [fault, setFault] = useState<string>()
  const [away, setAway] = useState(false)
  useEffect(() => {
    const stop = new AbortController()
    const player = createPlayer(parameters, wallet, setShown)
    const dot = createDot(setAway, stop.signal)
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
    listenForTests(wallet, (tip) => player.add(tip), stop.signal)
    if (parameters.preview) player.add(sample())
    if (parameters.test) sampleEveryTenSeconds((tip) => player.add(tip), stop.signal)
    if (parameters.hold) whileSeen((seen) => player.hold(!seen))
    return () => stop.abort()
  }, [parameters, wallet])
  return (
    <>
      {fault !== undefined && <p class="fault">{fault}</p>}
      {shown !== undefined && <AlertCard {...shown} parameters={parameters} />}
      {away && parameters.dot && <i class="dot" />}
    </>
  )
}

function createPlayer(
  parameters: Parameters,
  wallet: string,
  setShown: (shown: Shown | undefined) => void,
): Player {
  const kept = parameters.preview ? undefined : keptCursor(wallet)
  let last: Alert | undefined
  return new Player(parameters, kept, {
    show(alert, phase) {
      setShown(alert && { alert, phase })
      if (phase === 'enter' && alert !== undefined) {
        if (parameters.sound) playChime(parameters.volume)
        tell('tip:show', alert)
      }
      if (alert === undefined && last !== undefined) tell('tip:hide', last)
      last = alert
    },
    keep: (cursor) => {
      if (!parameters.preview) keepCursor(wallet, cursor)
    },
  })
}

/** For code of the creator's own, which streaming programs can add to a page. */
function tell(name: string, alert: Alert): void {
  window.dispatchEvent(new CustomEvent(name, { detail: alert.kind === 'tip' ? alert.tip : alert.more }))
}

function createDot(setAway: (away: boolean) => void, signal: AbortSignal) {
  let timer: ReturnType<typeof setTimeout> | undefined
  const clear = (): void => {
    clearTimeout(timer)
    timer = undefined
  }
  signal.addEventListener('abort', clear)
  return {
    connected(): void {
      clear()
      setAway(false)
    },
    disconnected(): void {
      timer ??= setTimeout(() => setAway(true), dotAfterMs)
    },
  }
}
