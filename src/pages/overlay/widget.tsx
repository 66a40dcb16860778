import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { Figures } from '../../overlay/schemas.js'
import { requestJson } from '../../sdk/client/request.js'
import { words } from '../i18n/overlay.js'
import { shortNgn, shortUsd } from '../lib/money.js'
import { amountText, senderText } from '../lib/tip-text.js'
import { applyLook } from './look.js'
import { tokenSource } from './source.js'

export const widgets = ['goal', 'top', 'latest'] as const
export type WidgetName = (typeof widgets)[number]

const nameLength = 30
/** Figures are read again at most so often. */
const leastMs = 3000

/** What stays: the goal, who gave most, or the newest tips. */
export function Widget({ token, name }: { readonly token: string; readonly name: WidgetName }) {
  const [figures, setFigures] = useState<Figures>()
  const [fault, setFault] = useState<string>()
  useEffect(() => {
    const stop = new AbortController()
    const read = throttled(async () => {
      const path = `/overlay/${token}/figures`
      setFigures(
        await requestJson<Figures>({ baseUrl: location.origin }, 'GET', path, { signal: stop.signal }),
      )
    }, stop.signal)
    let cursor: string | undefined
    tokenSource(token).start(
      {
        lastEventId: () => cursor,
        onConnected(_, newest) {
          cursor = newest
          read()
        },
        onDisconnected: () => undefined,
        onTip: read,
        onSettings(settings) {
          applyLook(settings)
          read()
        },
        onTest: () => undefined,
        onRemoved: read,
        onFault: setFault,
      },
      stop.signal,
    )
    return () => stop.abort()
  }, [token])
  if (fault !== undefined) return <p class="fault">{fault}</p>
  return figures === undefined ? null : views[name](figures)
}

const views: Readonly<Record<WidgetName, (figures: Figures) => JSX.Element>> = {
  goal: ({ goal }) =>
    goal === null ? (
      <p class="fault">{words.noGoal}</p>
    ) : (
      <section class="tip widget">
        <p class="tip__line">
          <bdi>{goal.title}</bdi>
        </p>
        <progress class="widget__bar" value={goal.raisedUsd} max={goal.amountUsd} aria-label={goal.title} />
        <p class="tip__message">{words.raised(goal.raisedUsd, goal.amountUsd)}</p>
      </section>
    ),
  top: ({ top }) => (
    <List
      title={words.top}
      rows={top.map(({ name, valueUsd }) => [senderText(name, nameLength), shortUsd(valueUsd)])}
    />
  ),
  latest: ({ latest }) => (
    <List
      title={words.latest}
      rows={latest.map(({ sender, senderName, amount, tokenSymbol, amountNgn }) => [
        senderText(senderName ?? sender, nameLength),
        amountNgn === undefined ? amountText(amount, tokenSymbol) : shortNgn(amountNgn),
      ])}
    />
  ),
}

/** Names from strangers are rendered as text inside `<bdi>`. */
function List({
  title,
  rows,
}: {
  title: string
  rows: readonly (readonly [name: string, amount: string])[]
}) {
  return (
    <section class="tip widget">
      <p class="tip__line">{title}</p>
      {rows.length === 0 && <p class="tip__message">{words.nothing}</p>}
      <ol class="widget__rows">
        {rows.map(([name, amount], index) => (
          <li key={`${index} ${name}`} class="widget__row">
            <bdi>{name}</bdi>
            <span class="tip__amount">{amount}</span>
          </li>
        ))}
      </ol>
    </section>
  )
}

/** Calls at once, then at most every few seconds, and once more after the last call. A failure is repeated. */
function throttled(work: () => Promise<void>, signal: AbortSignal): () => void {
  let busy = false
  let again = false
  async function run(): Promise<void> {
    busy = true
    again = false
    await work().catch(() => {
      again = true
    })
    setTimeout(() => {
      busy = false
      if (again && !signal.aborted) void run()
    }, leastMs)
  }
  return () => {
    if (busy) again = true
    else void run()
  }
}
