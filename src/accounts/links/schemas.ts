import { z } from 'zod'
import { requiredSecret } from '../../http/input.js'

/** The token of a mailed link. */
export const tokenInput = z.object({
  token: requiredSecret('link_token_required').meta({ description: 'Of the mailed link' }),
})
