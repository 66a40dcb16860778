import { z } from 'zod'

/** A code of the app or a recovery code. Blanks and hyphens group it. */
export const totpField = z.string('invalid_code').max(100, 'invalid_code').optional()
