import type { Terms } from './amounts.js'

/** Reads the terms from the attributes that the service wrote into the page's HTML. */
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
