import type { Batch } from '../../../src/platform/worker/batch-loop.js'
import type { World } from '../servers/world.js'
import { until } from '../until.js'
import { unusedSignature, unusedWallet } from './supporter.js'

/** The answer of POST /chain/tips/create. */
export interface RecordedBody {
  readonly success: true
  readonly tip: {
    readonly id: string
    readonly status: string
    readonly recipientId?: string
    readonly amount?: number
    readonly tokenSymbol?: string
  }
  readonly message: 'Tip recorded successfully' | 'Tip already recorded'
}

/** One item of GET /chain/tips. */
export interface ListedTip {
  readonly signature: string
  readonly recipient: string
  readonly recipient_id: string | null
  readonly sender: string
  readonly sender_id: string | null
  readonly amount: number
  readonly receivedAmount: number | null
  readonly tokenSymbol: string
  readonly message: string | null
  readonly timestamp: string
  readonly status: string
  readonly valueUsd: number
  readonly isStable: boolean
  readonly fiatDetails: null
}

/** An invented claim with the given changes. */
export function someClaim(
  change: Record<string, unknown> = {},
): Record<string, unknown> & { txSignature: string } {
  return {
    creatorWallet: unusedWallet(),
    senderWallet: unusedWallet(),
    tipAmount: 1_000_000,
    txSignature: unusedSignature(),
    ...change,
  }
}

/** Records a claim. Throws when it is refused. */
export async function recordTip({ request }: World, claim: Record<string, unknown>): Promise<RecordedBody> {
  const answer = await request<RecordedBody>('POST', '/chain/tips/create', { body: claim })
  if (answer.status !== 200) throw new Error(`record: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

export async function listTips({ request }: World, address: string): Promise<readonly ListedTip[]> {
  const path = `/chain/tips?address=${encodeURIComponent(address)}`
  const answer = await request<{ tips: ListedTip[] }>('GET', path)
  if (answer.status !== 200) throw new Error(`list: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.tips
}

/** The stored row of a tip. */
export async function readTipRow({ db }: World, signature: string) {
  return db('tips').where({ id: signature }).first()
}

/** Runs a batch until the condition holds. A failing batch is repeated. */
export async function runBatchUntil(
  batch: Batch,
  what: string,
  holds: () => boolean | Promise<boolean>,
): Promise<void> {
  let failure: unknown
  const condition = async () => {
    await batch().catch((error: unknown) => {
      failure = error
    })
    return holds()
  }
  await until(what, condition).catch((error: unknown) => {
    throw new Error(String(error), { cause: failure })
  })
}
