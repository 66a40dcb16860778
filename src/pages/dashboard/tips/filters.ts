import { fiatSymbol } from '../../lib/tip-text.js'
import { tokens } from '../answers.js'

/** The filters of the tip list, as they are in the screen's URL. Empty: not filtered. */
export interface Filters {
  readonly token: string
  readonly status: string
  readonly days: string
  readonly q: string
}

export const kinds = [...tokens, fiatSymbol] as const
export const statuses = ['confirmed', 'pending', 'failed', 'cancelled'] as const
export const periods = ['7', '30', '90'] as const

/** Reads the filters from a query string. Unknown values are ignored. */
export function readFilters(query: URLSearchParams): Filters {
  const among = (name: string, choices: readonly string[]): string => {
    const text = query.get(name) ?? ''
    return choices.includes(text) ? text : ''
  }
  return {
    token: among('token', kinds),
    status: among('status', statuses),
    days: among('days', periods),
    q: (query.get('q') ?? '').slice(0, 100),
  }
}

export function writeFilters(filters: Filters): URLSearchParams {
  return new URLSearchParams(Object.entries(filters).filter(([, value]) => value !== ''))
}

/** Midnight, so many days ago, in the browser's time zone. */
function startOfDay(nowMs: number, daysAgo: number): string {
  const day = new Date(nowMs)
  day.setDate(day.getDate() - daysAgo)
  day.setHours(0, 0, 0, 0)
  return day.toISOString()
}

export function tipsPath(filters: Filters, nowMs: number, cursor?: string, limit = 50): string {
  const { days, token, status, q } = filters
  const query = new URLSearchParams({ limit: String(limit) })
  if (token !== '') query.set('token', token)
  if (status !== '') query.set('status', status)
  if (q.trim() !== '') query.set('q', q.trim())
  if (days !== '') query.set('from', startOfDay(nowMs, Number(days)))
  if (cursor !== undefined) query.set('cursor', cursor)
  return `/creators/tips?${query}`
}
