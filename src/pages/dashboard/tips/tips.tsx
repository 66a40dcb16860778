import { useEffect, useRef, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { usd } from '../../lib/money.js'
import { fiatSymbol, senderText } from '../../lib/tip-text.js'
import { Select } from '../../ui/fields.js'
import { Announcer, Button, Notice, TextButton } from '../../ui/kit.js'
import type { Balance, ListedTip, TipsPage } from '../answers.js'
import { tokens } from '../answers.js'
import { useShown } from '../connection.js'
import { momentText } from '../dates.js'
import { ScreenLink } from '../parts/links.js'
import { ClaimsNotice, FaultNotice } from '../parts/notices.js'
import { RateProvider, useRate } from '../parts/rate.js'
import { CsvButton, MoreButton } from '../parts/rows.js'
import { useLoad, usePages } from '../requests.js'
import { replaceQuery, useRoute } from '../route.js'
import { NoTips } from './live-tips.js'
import { TipList } from './tip-list.js'

/** The filters of the tip list, as they are in the screen's URL. Empty: not filtered. */
interface Filters {
  readonly token: string
  readonly status: string
  readonly days: string
  readonly q: string
  /** The history of one supporter. */
  readonly sender: string
}

const kinds = [...tokens, fiatSymbol] as const
const statuses = ['confirmed', 'pending', 'failed', 'cancelled'] as const
const periods = ['7', '30', '90'] as const

/** Reads the filters from a query string. Unknown values are ignored. */
function readFilters(query: URLSearchParams): Filters {
  const among = (name: string, choices: readonly string[]): string => {
    const text = query.get(name) ?? ''
    return choices.includes(text) ? text : ''
  }
  return {
    token: among('token', kinds),
    status: among('status', statuses),
    days: among('days', periods),
    q: (query.get('q') ?? '').slice(0, 100),
    sender: (query.get('sender') ?? '').slice(0, 100),
  }
}

function writeFilters(filters: Filters): URLSearchParams {
  return new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''))
}

/** Midnight, so many days ago, in the browser's time zone. */
function startOfDay(nowMs: number, daysAgo: number): string {
  const day = new Date(nowMs)
  day.setDate(day.getDate() - daysAgo)
  day.setHours(0, 0, 0, 0)
  return day.toISOString()
}

function tipsPath(filters: Filters, nowMs: number, cursor?: string, limit = 50): string {
  const { days, token, status, q, sender } = filters
  const query = new URLSearchParams({ limit: String(limit) })
  if (token !== '') query.set('token', token)
  if (status !== '') query.set('status', status)
  if (q.trim() !== '') query.set('q', q.trim())
  if (sender !== '') query.set('sender', sender)
  if (days !== '') query.set('from', startOfDay(nowMs, Number(days)))
  if (cursor !== undefined) query.set('cursor', cursor)
  return `/creators/tips?${query}`
}

const csvPageSize = 100

export function Tips() {
  const { query } = useRoute()
  const filters = readFilters(query)
  const [startedAt] = useState(Date.now)
  const list = usePages<TipsPage>((cursor) => tipsPath(filters, startedAt, cursor))
  const balance = useLoad<Balance>('/creators/balance')
  // The notice above the list must not move it.
  const shown = useShown(balance.isOver)
  const pages = shown ? list.pages : []
  const [givenBack, setGivenBack] = useState<Readonly<Record<string, number>>>({})
  const { rate } = useRate()
  const searchedSince = pages[0]?.searchedSince
  const tips = pages.flatMap((page) => page.tips).map((tip) => withGivenBack(tip, givenBack[tip.signature]))
  const count = pages.length === 0 ? undefined : words.tips.count(tips.length, list.hasMore)
  const filtered = writeFilters(filters).size > 0
  const set = (change: Partial<Filters>): void => replaceQuery(writeFilters({ ...filters, ...change }))
  return (
    <section class="card">
      {shown && <ClaimsNotice of={balance} />}
      <FilterBar filters={filters} onChange={set} />
      {filters.sender !== '' && (
        <div class="row">
          <h2>
            {words.tips.fromOne} <bdi>{senderText(filters.sender, senderLength)}</bdi>
          </h2>
          <TextButton text={words.tips.fromAll} onPress={() => set({ sender: '' })} />
        </div>
      )}
      <div class="row">
        <p class="quiet">
          {count ?? words.loading}
          {filters.sender !== '' && count !== undefined && `, ${usd(sumOf(tips))}`}
        </p>
        <span class="wrap">
          <ScreenLink to="statement">{words.tips.statement}</ScreenLink>
          <CsvButton path={tipsPath(filters, startedAt, undefined, csvPageSize)} fileName="tips.csv" />
        </span>
      </div>
      <Announcer text={count ?? ''} />
      {searchedSince && (
        <Notice tone="plain" icon="warn" text={words.tips.searchedSince(momentText(searchedSince))} />
      )}
      <FaultNotice fault={list.fault} tone="warn" onRetry={list.reload} />
      {count !== undefined && tips.length === 0 && (filtered ? <NothingFound /> : <NoTips />)}
      <RateProvider value={rate}>
        <TipList
          tips={tips}
          onDecided={() => {
            list.reload()
            balance.reload()
          }}
          onGivenBack={({ signature }, dollars) => {
            setGivenBack((before) => ({ ...before, [signature]: dollars }))
            balance.reload()
          }}
        />
      </RateProvider>
      {shown && <MoreButton of={list} />}
    </section>
  )
}

function withGivenBack(tip: ListedTip, dollars: number | undefined): ListedTip {
  return dollars === undefined ? tip : { ...tip, refundedAmount: dollars === 0 ? undefined : dollars }
}

const senderLength = 60

/** What the listed tips that were paid are worth. */
function sumOf(tips: readonly ListedTip[]): number {
  return tips.reduce((sum, { status, valueUsd }) => (status === 'confirmed' ? sum + valueUsd : sum), 0)
}

function NothingFound() {
  return (
    <div class="empty">
      <p>{words.tips.nothingFound}</p>
      <Button text={words.tips.clear} onPress={() => replaceQuery(new URLSearchParams())} />
    </div>
  )
}

/** The search starts this long after the last letter, so that not every letter is a request. */
const searchDelayMs = 250

const kindTexts = Object.fromEntries(
  kinds.map((kind) => [kind, kind === fiatSymbol ? words.filters.naira : kind]),
)
const periodTexts = Object.fromEntries(periods.map((days) => [days, words.chart.days(Number(days))]))

type FilterBarProps = { filters: Filters; onChange: (change: Partial<Filters>) => void }

function FilterBar({ filters, onChange }: FilterBarProps) {
  const [q, setQ] = useState(filters.q)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  useEffect(() => setQ(filters.q), [filters.q])
  useEffect(() => () => clearTimeout(timer.current), [])
  const choice = (
    key: 'token' | 'status' | 'days',
    label: string,
    choices: readonly string[],
    texts: Readonly<Record<string, string>>,
  ) => (
    <Select
      label={label}
      bare
      choices={['', ...choices]}
      texts={{ ...texts, '': words.filters.all(label) }}
      chosen={filters[key]}
      onChoose={(chosen) => onChange({ [key]: chosen })}
    />
  )
  return (
    <search>
      <form class="filters wrap" onSubmit={(event) => event.preventDefault()}>
        <label class="filters__search">
          <span class="visually-hidden">{words.filters.search}</span>
          <input
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
        {choice('token', words.filters.token, kinds, kindTexts)}
        {choice('status', words.filters.status, statuses, words.status)}
        {choice('days', words.filters.period, periods, periodTexts)}
      </form>
    </search>
  )
}
