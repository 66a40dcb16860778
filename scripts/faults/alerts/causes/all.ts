import type { Cause } from './cause.js'
import { chainCauses } from './chain.js'
import { clockCauses } from './clock.js'
import { moneyCauses } from './money.js'
import { databaseAway, providerCauses } from './providers.js'
import { stateCauses } from './state.js'

/** In this order: what needs money of the creators comes before what stops everything. */
export const causes: readonly Cause[] = [
  ...moneyCauses,
  ...chainCauses,
  ...stateCauses,
  ...providerCauses,
  ...clockCauses,
  databaseAway,
]
