import { getAssociatedTokenAddressSync } from '@solana/spl-token'
import { type Connection, Keypair, LAMPORTS_PER_SOL, PublicKey, VersionedTransaction } from '@solana/web3.js'
import type { Sandbox } from '../../../scripts/sandbox/server.js'
import { tokenBySymbol } from '../../../src/kernel/tokens.js'
import { until } from '../../helpers/until.js'
import { connect, fundedKeypair, postJson } from '../chain-client.js'

/** What an engine answered. */
export interface Answer {
  readonly status: number
  // biome-ignore lint/suspicious/noExplicitAny: tests read the wire as it is
  readonly body: any
}

/** Signature and priority fee of a swap transaction, and what opening a token account costs. */
export const networkFee = 6_400
export const accountRent = 2_039_280

export function mintOf(symbol: string): string {
  return tokenBySymbol(symbol)?.mint ?? symbol
}

/** The address of a wallet's account of a token, by symbol; SOL: of its wrapped SOL. */
export function tokenAccount(owner: PublicKey, symbol: string): PublicKey {
  return getAssociatedTokenAddressSync(new PublicKey(mintOf(symbol)), owner, true)
}

/** A supporter with 5 SOL and, unless it is SOL, some of a token (display units). */
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

/** `GET /order` for symbols, with our 2 % fee unless the query says otherwise. */
export function order(
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

/** `GET /quote` for symbols, with our 2 % fee unless the query says otherwise. */
export function quote(
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
export function swap(
  { url }: Sandbox,
  quoteResponse: unknown,
  body: Record<string, unknown>,
): Promise<Answer> {
  return postJson(`${url}/swap/v1/swap`, { quoteResponse, ...body })
}

export function decode(transaction: string): VersionedTransaction {
  return VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
}

/** Signs what an engine handed out and sends it as a wallet does, without the engine; answers the signature. */
export async function land(sandbox: Sandbox, transaction: string, signer: Keypair): Promise<string> {
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
export function execute({ url }: Sandbox, ordered: Answer, signer: Keypair): Promise<Answer> {
  const decoded = decode(ordered.body.transaction)
  decoded.sign([signer])
  return postJson(`${url}/ultra/v1/execute`, {
    requestId: ordered.body.requestId,
    signedTransaction: Buffer.from(decoded.serialize()).toString('base64'),
  })
}

/** Base units a wallet holds; of SOL, what is native. */
export async function holds(connection: Connection, owner: PublicKey, symbol: string): Promise<bigint> {
  if (symbol === 'SOL') return BigInt(await connection.getBalance(owner))
  return inAccount(connection, tokenAccount(owner, symbol))
}

/** Base units in a token account; nothing when there is none. */
export async function inAccount(connection: Connection, account: PublicKey): Promise<bigint> {
  const found = await connection.getTokenAccountBalance(account).catch(() => undefined)
  return BigInt(found?.value.amount ?? 0)
}

export function stranger(): PublicKey {
  return Keypair.generate().publicKey
}
