import { toBase64 } from './solana.js'

const timeoutMs = 8000

/** A JSON-RPC error answer: the endpoint refused the call. After any other failure the outcome is unknown. */
export class RpcError extends Error {
  override name = 'RpcError'
  readonly code: number
  readonly data: unknown
  constructor({ code, message, data }: { code: number; message: string; data?: unknown }) {
    super(message)
    this.code = code
    this.data = data
  }
}

async function call<Result>(url: string, method: string, params: readonly unknown[]): Promise<Result> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    credentials: 'omit',
    signal: AbortSignal.timeout(timeoutMs),
  })
  if (response.status === 429 || response.status >= 500) throw new Error(`status ${response.status}`)
  const answer: { result?: Result; error?: { code: number; message: string; data?: unknown } } =
    await response.json()
  if (answer.error !== undefined) throw new RpcError(answer.error)
  return answer.result as Result
}

/** Sends a signed transaction. Sending the same bytes again is safe. Throws RpcError when the endpoint refused it. */
export function sendTransaction(url: string, signed: Uint8Array, again: boolean): Promise<string> {
  const options = {
    encoding: 'base64',
    maxRetries: 0,
    skipPreflight: again,
    preflightCommitment: 'confirmed',
  }
  return call(url, 'sendTransaction', [toBase64(signed), options])
}

/** `none`: the endpoint does not know the transaction, or not yet. */
export async function transactionStatus(
  url: string,
  signature: string,
): Promise<'none' | 'landed' | 'failed'> {
  const options = { searchTransactionHistory: true }
  const { value } = await call<{ value: ({ err: unknown } | null)[] }>(url, 'getSignatureStatuses', [
    [signature],
    options,
  ])
  if (value[0] == null) return 'none'
  return value[0].err === null ? 'landed' : 'failed'
}

export function blockHeight(url: string): Promise<number> {
  return call(url, 'getBlockHeight', [{ commitment: 'confirmed' }])
}

/** What the network takes for a message, in lamports. Null: its blockhash is too old. */
export async function networkFee(url: string, message: Uint8Array): Promise<number | null> {
  const options = { commitment: 'confirmed' }
  const { value } = await call<{ value: number | null }>(url, 'getFeeForMessage', [
    toBase64(message),
    options,
  ])
  return value
}

const tokenAccountBytes = 165

/** What opening a wallet's account of a token costs, in lamports: 0 when there is one, and for SOL. */
export async function openingCost(url: string, address: string, mint: string): Promise<number> {
  if (mint === solMint) return 0
  const { value } = await tokenAccounts(url, address, mint)
  return value.length > 0 ? 0 : call(url, 'getMinimumBalanceForRentExemption', [tokenAccountBytes])
}

export const solMint = 'So11111111111111111111111111111111111111112'

/** A wallet's balance of a token, in base units. */
export async function balanceOf(url: string, address: string, mint: string): Promise<bigint> {
  if (mint === solMint) return BigInt((await call<{ value: number }>(url, 'getBalance', [address])).value)
  const { value } = await tokenAccounts(url, address, mint)
  return value.reduce((sum, { account }) => sum + BigInt(account.data.parsed.info.tokenAmount.amount), 0n)
}

function tokenAccounts(url: string, address: string, mint: string): Promise<TokenAccounts> {
  return call(url, 'getTokenAccountsByOwner', [address, { mint }, { encoding: 'jsonParsed' }])
}

interface TokenAccounts {
  readonly value: readonly { account: { data: { parsed: { info: { tokenAmount: { amount: string } } } } } }[]
}
