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

const dayMs = 24 * 3600 * 1000

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

/** The API path for one page of the filtered tips. */
export function tipsPath(filters: Filters, nowMs: number, cursor?: string, limit = 50): string {
  const { days, token, status, q } = filters
  const query = new URLSearchParams({ limit: String(limit) })
  if (token !== '') query.set('token', token)
  if (status !== '') query.set('status', status)
  if (q.trim() !== '') query.set('q', q.trim())
  if (days !== '') query.set('from', new Date(nowMs - Number(days) * dayMs).toISOString().slice(0, 10))
  if (cursor !== undefined) query.set('cursor', cursor)
  return `/creators/tips?${query}`
}
