import type { LiveStreams } from '../events/stream.js'
import { type Route, route, streamRoute } from '../http/endpoint.js'
import { nameRow, originOf } from '../http/request-id.js'
import { cleanMessage } from '../kernel/text.js'
import type { Services } from '../services.js'
import { listTips } from './read/list-tips.js'
import { findStart } from './read/stream.js'
import { claimFromRequest } from './record/claim.js'
import { createRecorder, type Recorded } from './record/record-claim.js'
import {
  listTipsInput,
  listTipsOutput,
  type RecordTipInput,
  recordTipInput,
  recordTipOutput,
  streamEvent,
  streamInput,
} from './schemas.js'

export function tipRoutes(services: Services, streams: LiveStreams): Route[] {
  return [
    recordRoute(services),
    route(
      {
        method: 'get',
        path: '/chain/tips',
        summary: 'The newest 50 tips an address received or sent',
        credential: 'none',
        limit: 'reads',
        input: listTipsInput,
        invalid: 'address_required',
        output: listTipsOutput,
        errors: [],
      },
      async ({ address }) => ({ tips: await listTips(services, address) }),
    ),
    streamRoute(
      {
        method: 'get',
        path: '/chain/tips/stream',
        summary: 'Newly confirmed tips of a wallet, live',
        credential: 'none',
        limit: 'reads',
        input: streamInput,
        invalid: 'wallet_required',
        output: streamEvent,
        errors: ['invalid_wallet'],
        stream: true,
      },
      ({ wallet }, ctx) => streams.serve(ctx, () => findStart(services.db, wallet)),
    ),
  ]
}

function recordRoute(services: Services): Route {
  const record = createRecorder(services)
  return route(
    {
      method: 'post',
      path: '/chain/tips/create',
      summary: 'Record a submitted tip, once per transaction signature',
      credential: 'none',
      pausedBy: ['maintenance'],
      limit: 'tipsCreate',
      input: recordTipInput,
      invalid: 'tip_fields_required',
      output: recordTipOutput,
      errors: [
        'invalid_creator_wallet',
        'invalid_tip_amount',
        'invalid_sender_wallet',
        'invalid_tx_signature',
      ],
    },
    async (input, ctx) => {
      const { message, ...notice } = cleanMessage(input.message)
      const claim = claimFromRequest(input, message, originOf(ctx))
      nameRow(ctx, { tip: claim.signature })
      const recorded = await record(claim)
      services.wake('verifier')
      return { ...presentRecorded(input, claim.tokenSymbol, recorded), ...notice }
    },
  )
}

/** API: the answer to a duplicate contains only the id and the status of the tip. */
function presentRecorded(
  input: RecordTipInput,
  tokenSymbol: string,
  { created, status, recipientId }: Recorded,
) {
  const id = input.txSignature
  if (!created) return { tip: { id, status }, message: 'Tip already recorded' as const }
  const recipient = recipientId === null ? {} : { recipientId }
  return {
    tip: { id, status, ...recipient, amount: input.tipAmount, tokenSymbol },
    message: 'Tip recorded successfully' as const,
  }
}
