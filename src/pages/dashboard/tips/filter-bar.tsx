import type { JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { fiatSymbol } from '../../lib/tip-text.js'
import { searchFieldId } from '../parts/shortcuts.js'
import { type Filters, kinds, periods, statuses } from './filters.js'

/** The search starts this long after the last letter, so that not every letter is a request. */
const searchDelayMs = 250

/** The filters of the tip list. */
export function FilterBar({
  filters,
  onChange,
}: {
  readonly filters: Filters
  readonly onChange: (change: Partial<Filters>) => void
}): JSX.Element {
  const [q, setQ] = useState(filters.q)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => setQ(filters.q), [filters.q])
  useEffect(() => () => clearTimeout(timer.current), [])
  return (
    <search>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <label class="filters__search">
          <span class="visually-hidden">{words.filters.search}</span>
          <input
            id={searchFieldId}
            class="input"
            type="search"
            placeholder={words.filters.search}
            maxLength={100}
            value={q}
            onInput={({ currentTarget }) => {
              const text = currentTarget.value
              setQ(text)
              clearTimeout(timer.current)
              timer.current = setTimeout(() => onChange({ q: text }), searchDelayMs)
            }}
          />
        </label>
        <Choice
          label={words.filters.token}
          value={filters.token}
          choices={kinds.map((kind) => [kind, kind === fiatSymbol ? words.filters.naira : kind])}
          onChange={(token) => onChange({ token })}
        />
        <Choice
          label={words.filters.status}
          value={filters.status}
          choices={statuses.map((status) => [status, words.status[status]])}
          onChange={(status) => onChange({ status })}
        />
        <Choice
          label={words.filters.period}
          value={filters.days}
          choices={periods.map((days) => [days, words.chart.days(Number(days))])}
          onChange={(days) => onChange({ days })}
        />
      </form>
    </search>
  )
}

function Choice({
  label,
  value,
  choices,
  onChange,
}: {
  readonly label: string
  readonly value: string
  readonly choices: readonly (readonly [value: string, text: string])[]
  readonly onChange: (value: string) => void
}): JSX.Element {
  return (
    <select
      class="input"
      aria-label={label}
      value={value}
      onChange={({ currentTarget }) => onChange(currentTarget.value)}
    >
      <option value="">{words.filters.all(label)}</option>
      {choices.map(([choice, text]) => (
        <option key={choice} value={choice}>
          {text}
        </option>
      ))}
    </select>
  )
}
