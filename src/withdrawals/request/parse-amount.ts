import { baseUnits } from '../../kernel/money.js'
import type { RequestedAmount } from '../price-withdrawal.js'

const usdcDecimals = 6
const koboDecimals = 2

/** Exactly one of the two amounts, in base units; undefined otherwise. */
export function parseAmount(amountUSDC: unknown, amountNGN: unknown): RequestedAmount | undefined {
  if ((amountUSDC === undefined) === (amountNGN === undefined)) return undefined
  const micro = baseUnits(amountUSDC, usdcDecimals)
  const kobo = baseUnits(amountNGN, koboDecimals)
  if (micro !== undefined) return { currency: 'USDC', micro }
  return kobo === undefined ? undefined : { currency: 'NGN', kobo }
}
