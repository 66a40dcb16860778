import { setTimeout as delay } from 'node:timers/promises'
import { z } from 'zod'
import type { LedgerRecord } from '../../chain/ledger.js'
import type { LocalChain } from '../../chain/local-chain.js'
import { RpcError } from '../../chain/rpc/error.js'
import { decodeTransaction, type WireTransaction } from '../../chain/vm/wire-transaction.js'
import { EngineError } from '../engine-route.js'
import type { Order } from './order.js'

const encodedMax = 4_000
const landingMs = 10_000
const pollMs = 20
const signatureBytes = 64

/** The body of `POST /execute`. Missing fields are allowed here, because each has its own error code. */
export const executeBody = z.object({
  signedTransaction: z.string().max(encodedMax).optional(),
  requestId: z.string().max(100).optional(),
})

/**
 * Submits a signed order, waits until it is confirmed and returns the result. Adds the market maker's signature where it is
 * needed. A repeated call with the same order returns the same result.
 * @throws EngineError 400 for a transaction that is not this order's, or not signed
 */
export async function executeOrder(chain: LocalChain, order: Order, signed: string) {
  const transaction = readSigned(order, signed)
  if (order.maker) transaction.parsed.sign([chain.keypair('market maker')])
  const raw = transaction.parsed.serialize()
  if (transaction.parsed.signatures.some((one) => one.every((byte) => byte === 0))) {
    throw refused(-1003, 'Transaction not fully signed')
  }
  const { err } = chain.simulate(raw, { verifySignatures: true, anyBlockhash: true })
  if (err === 'SignatureFailure') throw refused(-2, 'Invalid signed transaction')
  const signature = chain.submit(raw, { skipPreflight: true })
  const record = await waitUntilLanded(chain, signature, transaction)
  if (!record) {
    const expired = isExpired(chain, transaction)
    const failure = expired
      ? { code: -1005, error: 'Transaction expired' }
      : { code: -1006, error: 'Timed out' }
    return { status: 'Failed', signature, slot: '0', ...failure }
  }
  return outcome(order, record)
}

export function refused(code: number, error: string): EngineError {
  return new EngineError(400, { error, code })
}

function readSigned({ unsigned }: Order, signed: string): WireTransaction {
  const transaction = decoded(signed)
  const message = transaction.raw.subarray(1 + signatureBytes * transaction.parsed.signatures.length)
  if (!unsigned?.message.equals(message)) throw refused(-3, 'Invalid message bytes')
  return transaction
}

function decoded(signed: string): WireTransaction {
  try {
    return decodeTransaction(new Uint8Array(Buffer.from(signed, 'base64')))
  } catch (error) {
    if (error instanceof RpcError) throw refused(-2, 'Invalid signed transaction')
    throw error
  }
}

async function waitUntilLanded(
  chain: LocalChain,
  signature: string,
  transaction: WireTransaction,
): Promise<LedgerRecord | undefined> {
  for (const deadline = Date.now() + landingMs; Date.now() < deadline; await delay(pollMs)) {
    const record = chain.ledger.visible(signature, 'confirmed')
    if (record) return record
    if (!chain.ledger.get(signature) && isExpired(chain, transaction)) return undefined
  }
  return undefined
}

function isExpired(chain: LocalChain, { parsed }: WireTransaction): boolean {
  return chain.clock.slotOfRecentHash(parsed.message.recentBlockhash) === undefined
}

function outcome({ trade }: Order, { signature, slot, meta }: LedgerRecord) {
  const landing = { signature, slot: String(slot) }
  if (meta.err !== null) return { status: 'Failed', ...landing, ...programError(meta.err) }
  const { input, output } = trade
  const [inputAmount, outputAmount] = [String(trade.inAmount), String(trade.outAmount)]
  return {
    status: 'Success',
    ...landing,
    code: 0,
    totalInputAmount: inputAmount,
    totalOutputAmount: outputAmount,
    inputAmountResult: inputAmount,
    outputAmountResult: outputAmount,
    swapEvents: [{ inputMint: input.mint, inputAmount, outputMint: output.mint, outputAmount }],
  }
}

/** The number and text of a program's own error. */
function programError(err: unknown): { code: number; error: string } {
  const custom = /"Custom":(\d+)/.exec(JSON.stringify(err))?.[1]
  if (custom === undefined) return { code: -1001, error: 'Unknown error' }
  return { code: Number(custom), error: `custom program error: #${custom}` }
}
