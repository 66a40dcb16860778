import { createContext } from 'preact'
import { useContext, useEffect } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import { aboutNgn } from '../../lib/money.js'
import type { Rate } from '../answers.js'
import { useLoad } from '../requests.js'

/** Keeps the line of the naira while there is no rate. */
export const space = '\u00a0'

const RateContext = createContext<Rate | undefined>(undefined)

/** Gives the rate to all parts of a screen. */
export const RateProvider = RateContext.Provider

/** `about ₦8,000` for dollars at the screen's rate. Undefined without a rate, and for nothing. */
export function useNaira(): (dollars: number) => string | undefined {
  const rate = useContext(RateContext)
  return (dollars) => nairaText(dollars, rate)
}

/** Bounds of the pause between two requests. */
const minPauseMs = 5000
const maxPauseMs = 60_000

/** `about ₦8,000` for dollars at the current rate. Undefined without a rate, and for nothing. */
export function nairaText(dollars: number | undefined, rate: Rate | undefined): string | undefined {
  return dollars === undefined || dollars <= 0 || rate === undefined
    ? undefined
    : words.aboutNgn(aboutNgn(dollars, rate.rate))
}

/** The exchange rate, requested again when it expires, and whether the first request is over. */
export function useRate(): { readonly rate: Rate | undefined; readonly isOver: boolean } {
  const { data, fault, isOver, reload } = useLoad<Rate>('/payments/fiat/rate')
  const expiresAt = data?.expiresAt
  useEffect(() => {
    const left = expiresAt === undefined ? minPauseMs : Date.parse(expiresAt) - Date.now()
    const timer = setTimeout(reload, Math.min(Math.max(left, minPauseMs), maxPauseMs))
    return () => clearTimeout(timer)
    // A failed request is repeated, too.
  }, [expiresAt, fault, data, reload])
  return { rate: fault === undefined ? data : undefined, isOver }
}
