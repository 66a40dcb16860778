import { getAssociatedTokenAddressSync } from '@solana/spl-token'
import { type Connection, Keypair, LAMPORTS_PER_SOL, PublicKey, VersionedTransaction } from '@solana/web3.js'
import type { Sandbox } from '../../../scripts/sandbox/server.js'
import { tokenBySymbol } from '../../../src/kernel/tokens.js'
import { until } from '../../helpers/until.js'
import { connect, fundedKeypair, postJson } from '../chain-client.js'

/** An engine's answer. */
export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read the raw answer
  readonly body: any
}

/** The signature and priority fee of a swap transaction, and the rent of a token account. */
export const networkFee = 6_400
export const accountRent = 2_039_280

export function mintOf(symbol: string): string {
  return tokenBySymbol(symbol)?.mint ?? symbol
}

/** The address of a wallet's token account, by symbol. For SOL: of wrapped SOL. */
export function tokenAccount(owner: PublicKey, symbol: string): PublicKey {
  return getAssociatedTokenAddressSync(new PublicKey(mintOf(symbol)), owner, true)
}

/** Creates a supporter with 5 SOL and, unless the symbol is SOL, an amount of a token (display units). */
export async function createSupporter(sandbox: Sandbox, symbol = 'SOL', amount = '1000'): Promise<Keypair> {
  const keypair = await fundedKeypair(connect(sandbox), 5 * LAMPORTS_PER_SOL)
  if (symbol !== 'SOL') await airdrop(sandbox, keypair.publicKey, symbol, amount)
  return keypair
}

export async function airdrop(
  sandbox: Sandbox,
  wallet: PublicKey,
  token: string,
  amount: string,
): Promise<void> {
  await postJson(`${sandbox.url}/dev/airdrop`, { wallet: wallet.toBase58(), token, amount })
}

export async function getJson(url: string, query: Record<string, string>): Promise<Answer> {
  const response = await fetch(`${url}?${new URLSearchParams(query)}`)
  return { status: response.status, body: await response.json() }
}

/** `GET /order` for symbols, by default with the platform's fee of 2 %. */
export function requestOrder(
  { url, aggregator }: Sandbox,
  input: string,
  output: string,
  query: Record<string, string>,
): Promise<Answer> {
  return getJson(`${url}/ultra/v1/order`, {
    inputMint: mintOf(input),
    outputMint: mintOf(output),
    referralAccount: aggregator.referralAccount,
    referralFee: '200',
    ...query,
  })
}

/** `GET /quote` for symbols, by default with the platform's fee of 2 %. */
export function requestQuote(
  { url }: Sandbox,
  input: string,
  output: string,
  query: Record<string, string>,
): Promise<Answer> {
  return getJson(`${url}/swap/v1/quote`, {
    inputMint: mintOf(input),
    outputMint: mintOf(output),
    platformFeeBps: '200',
    ...query,
  })
}

/** `POST /swap` for a quote. */
export function requestSwap(
  { url }: Sandbox,
  quoteResponse: unknown,
  body: Record<string, unknown>,
): Promise<Answer> {
  return postJson(`${url}/swap/v1/swap`, { quoteResponse, ...body })
}

export function decode(transaction: string): VersionedTransaction {
  return VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
}

/** Signs an engine's transaction and sends it to the chain, as a wallet does. Returns the signature. */
export async function signAndLand(sandbox: Sandbox, transaction: string, signer: Keypair): Promise<string> {
  const decoded = decode(transaction)
  decoded.sign([signer])
  const signature = await connect(sandbox).sendTransaction(decoded)
  await until(
    'the swap is confirmed',
    () => sandbox.chain.ledger.visible(signature, 'confirmed') !== undefined,
  )
  return signature
}

/** Posts a signed order to `/execute`. */
export function executeOrder({ url }: Sandbox, ordered: Answer, signer: Keypair): Promise<Answer> {
  const decoded = decode(ordered.body.transaction)
  decoded.sign([signer])
  return postJson(`${url}/ultra/v1/execute`, {
    requestId: ordered.body.requestId,
    signedTransaction: Buffer.from(decoded.serialize()).toString('base64'),
  })
}

/** The balance of a wallet in base units. For SOL: the native balance. */
export async function readBalance(connection: Connection, owner: PublicKey, symbol: string): Promise<bigint> {
  if (symbol === 'SOL') return BigInt(await connection.getBalance(owner))
  return readTokenBalance(connection, tokenAccount(owner, symbol))
}

/** The balance of a token account in base units. 0 when it does not exist. */
export async function readTokenBalance(connection: Connection, account: PublicKey): Promise<bigint> {
  const found = await connection.getTokenAccountBalance(account).catch(() => undefined)
  return BigInt(found?.value.amount ?? 0)
}

export function unusedKey(): PublicKey {
  return Keypair.generate().publicKey
}
