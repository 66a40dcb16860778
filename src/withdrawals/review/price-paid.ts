import type { WithdrawalPrice } from '../price-withdrawal.js'

/**
 * Prices a withdrawal of which only `paidKobo` was paid, at its own rate. The fee shrinks with the paid amount and never exceeds
 * what is left of the gross. Fee and debit are rounded down, in the creator's favour. `paidKobo` is at most the gross.
 */
export function pricePaid(
  { debitMicro, grossKobo, feeKobo, netKobo }: WithdrawalPrice,
  paidKobo: bigint,
): WithdrawalPrice {
  const share = (feeKobo * paidKobo) / netKobo
  const rest = grossKobo - paidKobo
  const paidFee = share < rest ? share : rest
  const paidGross = paidKobo + paidFee
  return {
    debitMicro: (debitMicro * paidGross) / grossKobo,
    grossKobo: paidGross,
    feeKobo: paidFee,
    netKobo: paidKobo,
  }
}
