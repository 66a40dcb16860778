import { z } from 'zod'
import { ProviderError } from '../../kernel/provider-error.js'
import type { ConfirmedSignature, SignatureStatus } from '../../ports/chain.js'
import { documented, type JsonRpc } from './json-rpc.js'

const slot = z.int().nonnegative()
const statusesReply = z.object({
  context: z.object({ slot }),
  value: z.array(
    z
      .object({
        slot,
        err: z.unknown().optional(),
        confirmationStatus: z.enum(['processed', 'confirmed', 'finalized']),
      })
      .nullable(),
  ),
})
type StatusesReply = z.output<typeof statusesReply>

const unseen: SignatureStatus = { commitment: 'none', failed: false, slot: 0n }
/** A node this many slots (a minute) behind another one is stuck, so its answer is not used. */
const lagSlots = 150
/** Other nodes are compared with the newest slot for this long only, since a faulty node may report a false slot. */
const newestSlotMs = 60_000
/**
 * This many slots after a transaction landed, its blockhash (150 slots) has expired on every fork and the forks are
 * decided (32 slots): it cannot land again.
 */
const cannotReturnSlots = 256

/** Reads the statuses of signatures. Refuses the answer of an endpoint that is far behind another one. */
export function createStatusReader(
  rpc: JsonRpc,
): (signatures: readonly string[]) => Promise<[string, SignatureStatus][]> {
  let newest = 0
  let newestAtMs = 0
  function refuseStuck(at: number): void {
    const now = performance.now()
    if (at < newest && now - newestAtMs < newestSlotMs) {
      if (at >= newest - lagSlots) return
      throw new ProviderError('unavailable', `the node is at slot ${at} of ${newest}`)
    }
    newest = at
    newestAtMs = now
  }
  return (signatures) =>
    rpc.call('getSignatureStatuses', statusParams(signatures), (result) => {
      const { context, value } = answerFor(signatures, result)
      refuseStuck(context.slot)
      return signatures.map((signature, index) => [signature, statusOf(value[index])])
    })
}

export async function findDropped(rpc: JsonRpc, landed: readonly ConfirmedSignature[]): Promise<string[]> {
  const signatures = landed.map(({ signature }) => signature)
  const answers = await rpc.callAll('getSignatureStatuses', statusParams(signatures), (result) =>
    answerFor(signatures, result),
  )
  const isDropped = (at: bigint, index: number): boolean =>
    answers.every(({ context, value }) => {
      const status = statusOf(value[index])
      if (status.commitment === 'none') return context.slot >= Number(at) + cannotReturnSlots
      return status.commitment === 'finalized' && status.failed
    })
  return landed.filter(({ slot: at }, index) => isDropped(at, index)).map(({ signature }) => signature)
}

/** What one endpoint says of the signatures. At most 256. */
export async function readStatuses(
  rpc: JsonRpc,
  signatures: readonly string[],
): Promise<ReadonlyMap<string, SignatureStatus>> {
  if (signatures.length === 0) return new Map()
  return rpc.call('getSignatureStatuses', statusParams(signatures), statusesIn(signatures))
}

/** What every endpoint says of them, each for itself. Throws unless all answer. */
export async function readEveryStatus(
  rpc: JsonRpc,
  signatures: readonly string[],
): Promise<ReadonlyMap<string, SignatureStatus>[]> {
  if (signatures.length === 0) return []
  return rpc.callAll('getSignatureStatuses', statusParams(signatures), statusesIn(signatures))
}

function statusesIn(signatures: readonly string[]): (result: unknown) => Map<string, SignatureStatus> {
  return (result) => {
    const { value } = answerFor(signatures, result)
    return new Map(signatures.map((signature, index) => [signature, statusOf(value[index])]))
  }
}

function statusParams(signatures: readonly string[]): unknown[] {
  return [signatures, { searchTransactionHistory: true }]
}

function answerFor(signatures: readonly string[], result: unknown): StatusesReply {
  const reply = documented(statusesReply)(result)
  if (reply.value.length === signatures.length) return reply
  const short = `the RPC answered ${reply.value.length} of ${signatures.length} statuses`
  throw new ProviderError('ambiguous', short)
}

function statusOf(status: StatusesReply['value'][number] | undefined): SignatureStatus {
  if (status == null) return unseen
  const { confirmationStatus: commitment, err, slot: at } = status
  return { commitment, failed: err != null, slot: BigInt(at) }
}
