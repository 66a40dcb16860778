import { moment, payoutReference, userId } from './examples.js'
import type { FieldNotes } from './field-note.js'

const soon = '2026-11-21T09:45:15.000Z'

/** Fields of many calls. */
export const commonFields: FieldNotes = {
  success: { note: 'Always true of an answer with status 200.', example: true },
  id: { note: 'UUID.', example: userId },
  expiresAt: { example: soon },
  timestamp: { example: moment },
  createdAt: { example: moment },
  truncated: { note: 'Only there when it was cut.', example: true },
  hasMore: { example: false },
  reference: { note: 'The id of the withdrawal.', example: payoutReference },
  currency: { note: 'What the amount was given in.', example: 'USDC' },
  'Last-Event-ID': { omit: true, example: '1795253410120' },
  cursor: { omit: true, example: 'MTA0Mg' },
  nextCursor: { note: 'For `cursor`; null on the last page.', example: null },
  limit: { omit: true, example: '50' },
  format: { note: '`csv` answers the same page as a file.', omit: true, example: 'json' },
  from: { omit: true, example: '2026-11-01T00:00:00Z' },
  to: { omit: true, example: '2026-12-01T00:00:00Z' },
  lastUsedAt: { note: 'Null if never.', example: moment },
  since: { example: '2026-11-21T09:00:00Z' },
  before: { omit: true, example: '2026-11-21T10:00:00Z' },
  type: { example: 'tip_completed' },
  'Idempotency-Key': { example: '6b1f2c0e-4f5a-4f1e-9a7e-2d3c4b5a6978' },
}
