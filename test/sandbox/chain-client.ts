import {
  type AddressLookupTableAccount,
  Connection,
  Keypair,
  type PublicKey,
  type TransactionInstruction,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import type { Sandbox } from '../../scripts/sandbox/server.js'

/** A web3.js connection to the sandbox's chain. It reads at `confirmed` by default. */
export function connect(sandbox: Pick<Sandbox, 'url'>): Connection {
  return new Connection(sandbox.url, { commitment: 'confirmed', disableRetryOnRateLimit: true })
}

export async function postJson(url: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const response = await fetch(url, {
    method: 'POST',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

/** Makes one JSON-RPC call. Returns the result, or throws the error's code and message. */
export async function callRpc(
  sandbox: Pick<Sandbox, 'url'>,
  method: string,
  ...params: unknown[]
): Promise<unknown> {
  const { body } = await postJson(sandbox.url, { jsonrpc: '2.0', id: 1, method, params })
  const { result, error } = body as { result?: unknown; error?: { code: number; message: string } }
  if (error) throw new Error(`${error.code} ${error.message}`)
  return result
}

/** Creates a key pair with this many lamports. */
export async function fundedKeypair(connection: Connection, lamports: number): Promise<Keypair> {
  const keypair = Keypair.generate()
  await connection.requestAirdrop(keypair.publicKey, lamports)
  return keypair
}

/** An unsigned v0 transaction, as a service gives it to a wallet. */
export async function unsignedTransaction(
  connection: Connection,
  payer: PublicKey,
  instructions: TransactionInstruction[],
  tables: AddressLookupTableAccount[] = [],
): Promise<VersionedTransaction> {
  const { blockhash } = await connection.getLatestBlockhash('processed')
  const message = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions })
  return new VersionedTransaction(message.compileToV0Message(tables))
}

/** Signs and sends a transaction. Returns the signature. */
export async function signAndSend(
  connection: Connection,
  transaction: VersionedTransaction,
  signer: Keypair,
  skipPreflight = false,
): Promise<string> {
  transaction.sign([signer])
  return connection.sendTransaction(transaction, { skipPreflight })
}
