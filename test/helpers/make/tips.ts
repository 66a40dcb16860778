import type { Batch } from '../../../src/platform/worker/batch-loop.js'
import type { World } from '../servers/world.js'
import { until } from '../until.js'
import { strangerWallet, unknownSignature } from './supporter.js'

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

/** One item of GET /chain/tips (contract: Tip list item). */
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

/** What a caller claims, made up where the test does not say. */
export function someClaim(
  change: Record<string, unknown> = {},
): Record<string, unknown> & { txSignature: string } {
  return {
    creatorWallet: strangerWallet(),
    senderWallet: strangerWallet(),
    tipAmount: 1_000_000,
    txSignature: unknownSignature(),
    ...change,
  }
}

/** Records a claim, which must be taken. */
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

/** The row of a tip, as it is stored. */
export async function storedTip({ db }: World, signature: string) {
  return db('tips').where({ id: signature }).first()
}

/** Runs a verifier until the condition holds; a look that fails is followed by the next one. */
export async function verifyUntil(
  batch: Batch,
  what: string,
  holds: () => boolean | Promise<boolean>,
  milliseconds?: number,
): Promise<void> {
  let failure: unknown
  const condition = async () => {
    await batch().catch((error: unknown) => {
      failure = error
    })
    return holds()
  }
  await until(what, condition, milliseconds).catch((error: unknown) => {
    throw new Error(String(error), { cause: failure })
  })
}
