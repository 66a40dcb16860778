import { useEffect, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { shortUsd, usd } from '../../lib/money.js'
import { Select } from '../../ui/fields.js'
import { TextButton } from '../../ui/kit.js'
import type { Days } from '../answers.js'
import { dayText } from '../dates.js'
import { space, useNaira } from '../parts/rate.js'
import { type Loaded, useLoad } from '../requests.js'

const text = words.chart

const spans = ['7', '30', '90'] as const
const spanTexts = Object.fromEntries(spans.map((days) => [days, text.days(Number(days))]))
const width = 1000
const height = 240

function ownTimeZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone || 'UTC'
}

interface DailyTips extends Loaded<Days> {
  readonly span: string
  readonly setSpan: (span: string) => void
}

/** Reads the tips of each day. A new `version` reads them again. */
export function useDays(version: number): DailyTips {
  const [span, setSpan] = useState('30')
  const [timeZone, setTimeZone] = useState(ownTimeZone)
  const query = new URLSearchParams({ days: span, timeZone })
  const loaded = useLoad<Days>(`/creators/tips/daily?${query}`, version)
  useEffect(() => {
    // The service may not know a zone that this browser knows.
    if (loaded.fault === 'invalid_time_zone') setTimeZone('UTC')
  }, [loaded.fault])
  return { ...loaded, span, setSpan }
}

interface Shown {
  readonly days: Days['days']
}

export function DailyChart({ days: { data, span, setSpan } }: { readonly days: DailyTips }) {
  const naira = useNaira()
  const [asTable, setAsTable] = useState(false)
  const days = data?.days ?? []
  const total = days.reduce((sum, { valueUsd }) => sum + valueUsd, 0)
  const count = days.reduce((sum, day) => sum + day.count, 0)
  return (
    <section class="card chart" aria-labelledby="chart-title">
      <header class="row">
        <div>
          <h2 id="chart-title">{text.title}</h2>
          <p class="quiet number">{data === undefined ? words.loading : text.sum(usd(total), count)}</p>
          {total > 0 && <p class="quiet number">{naira(total) ?? space}</p>}
        </div>
        <div class="row">
          <Select label={text.span} bare choices={spans} texts={spanTexts} chosen={span} onChoose={setSpan} />
          <TextButton
            aria-pressed={asTable}
            text={asTable ? text.asBars : text.asTable}
            onPress={() => setAsTable(!asTable)}
          />
        </div>
      </header>
      {asTable ? <DayTable days={days} /> : <Bars days={days} />}
    </section>
  )
}

function Bars({ days }: Shown) {
  const naira = useNaira()
  /** `$12.00 (about ₦19,200)`. */
  const both = (valueUsd: number): string => {
    const inNaira = naira(valueUsd)
    return inNaira === undefined ? usd(valueUsd) : `${usd(valueUsd)} (${inNaira})`
  }
  const most = Math.max(0, ...days.map(({ valueUsd }) => valueUsd))
  const top = scaleTop(most)
  const best = days.find(({ valueUsd }) => valueUsd === most && most > 0)
  const bars = barsOf(
    days.map(({ valueUsd }) => valueUsd),
    top,
  )
  const summary = best === undefined ? text.nothing : text.best(dayText(best.date), both(most))
  return (
    <figure class="chart__figure">
      <div class="chart__scale number" aria-hidden="true">
        <span>{shortUsd(top)}</span>
        <span>{shortUsd(top / 2)}</span>
        <span>$0</span>
      </div>
      <svg
        class="chart__bars"
        role="img"
        aria-label={summary}
        viewBox={`0 0 ${width} ${height}`}
        preserveAspectRatio="none"
      >
        {[0.5, height / 2, height - 0.5].map((y) => (
          <line
            key={y}
            stroke="var(--line)"
            vector-effect="non-scaling-stroke"
            x1={0}
            x2={width}
            y1={y}
            y2={y}
          />
        ))}
        {bars.map((bar, at) => (
          <rect
            key={days[at]?.date}
            fill="var(--accent)"
            x={bar.x * width}
            width={bar.width * width}
            y={(1 - bar.height) * height}
            height={bar.height * height}
          >
            <title>{`${dayText(days[at]?.date ?? '')}: ${both(days[at]?.valueUsd ?? 0)}`}</title>
          </rect>
        ))}
      </svg>
      <div class="chart__dates" aria-hidden="true">
        <span>{dayText(days[0]?.date ?? '')}</span>
        <span>{text.today}</span>
      </div>
      <figcaption class="quiet">{summary}</figcaption>
    </figure>
  )
}

function DayTable({ days }: Shown) {
  const naira = useNaira()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section class="chart__table" tabIndex={0} aria-label={text.title}>
      <table class="table">
        <thead>
          <tr>
            <th scope="col">{text.day}</th>
            <th scope="col" class="table__figure">
              {text.tips}
            </th>
            <th scope="col" class="table__figure">
              {text.value}
            </th>
          </tr>
        </thead>
        <tbody>
          {[...days].reverse().map(({ date, count, valueUsd }) => (
            <tr key={date}>
              <th scope="row">{dayText(date)}</th>
              <td class="table__figure number">{count}</td>
              <td class="table__figure number">
                {usd(valueUsd)}
                <div class="quiet">{naira(valueUsd)}</div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

/** A bar in fractions (0 to 1) of the chart's width and height. */
interface Bar {
  readonly x: number
  readonly width: number
  readonly height: number
}

const minShown = 0.01
/** The fraction of a bar's place that stays empty. */
const gapShare = 0.22

/** The top of the scale: the next round number at or above `most` with a round half; 1 when there are no tips. */
function scaleTop(most: number): number {
  if (!(most > 0)) return 1
  const shown = Math.max(most, minShown)
  const power = 10 ** Math.floor(Math.log10(shown))
  const step = [1, 2, 3, 4, 5, 6, 8, 10].find((factor) => factor * power >= shown) ?? 10
  return Number((step * power).toPrecision(1))
}

/** One bar for each value. A value above 0 always has a visible bar. */
function barsOf(values: readonly number[], top: number): Bar[] {
  const place = 1 / Math.max(values.length, 1)
  return values.map((value, at) => ({
    x: (at + gapShare / 2) * place,
    width: (1 - gapShare) * place,
    height: value > 0 ? Math.max(value / top, 0.015) : 0,
  }))
}
