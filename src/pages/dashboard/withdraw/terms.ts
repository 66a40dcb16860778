import type { Terms } from './amounts.js'

/** The service's conditions, from the page's own document. */
export function termsOfPage(): Terms {
  const { dataset } = document.documentElement
  return {
    leastFeeNgn: Number(dataset['withdrawLeastFeeNgn']),
    feeBps: Number(dataset['withdrawFeeBps']),
    minNgn: Number(dataset['withdrawMinNgn']),
    identitySingleNgn: Number(dataset['identitySingleNgn']),
    identityDailyNgn: Number(dataset['identityDailyNgn']),
  }
}
