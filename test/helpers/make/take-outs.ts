import { createPrivateKey, hash } from 'node:crypto'
import {
  Keypair,
  type TransactionInstruction,
  TransactionMessage,
  type VersionedMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { mintTokens, requestAirdrop } from '../../../scripts/sandbox/chain/faucet.js'
import { solMint, type Token, tokenBySymbol, usdc } from '../../../src/kernel/tokens.js'
import { createConfiguredVault } from '../../../src/providers/vault/configured-vault.js'
import { createTakeOutBatch } from '../../../src/treasury/take-outs/take-out-batch.js'
import { as } from '../servers/roles.js'
import type { World } from '../servers/world.js'
import { createConfirmedTips, someConfirmation } from './confirmed-tips.js'
import type { Person, TestCreator } from './creators.js'
import { creatorInCustody } from './custody.js'
import { addPayoutWallet, requestSteppedUp } from './payout-wallets.js'
import type { WalletHolder } from './sol-domains.js'

/** A take-out as the API answers it. */
export interface TransferBody {
  readonly id: string
  readonly status: string
  readonly mint: string
  readonly tokenSymbol: string
  readonly amount: string
  readonly wallet: string
  readonly transaction: string | null
  readonly signature: string | null
  readonly lastValidBlockHeight: number
  readonly endedAt: string | null
}

/** An answer of the take-out endpoints. */
export interface TransferAnswer {
  readonly transfer?: TransferBody
  readonly code?: string
  readonly error?: string
  readonly details?: readonly { readonly field: string; readonly problem: string }[]
}

/** A creator with a payout wallet that has SOL. */
export interface Taker extends TestCreator {
  readonly holder: Keypair
}

const path = '/creators/wallet/transfers'

/** A creator with so many micro-USDC in custody, and a payout wallet with a little SOL. */
export async function createTaker(world: World, micro = 0n): Promise<Taker> {
  const creator = await creatorInCustody(world, micro)
  return { ...creator, holder: await addWallet(world, creator) }
}

/** Gives a creator another payout wallet, with SOL. */
export async function addWallet(world: World, creator: Person): Promise<Keypair> {
  const holder = Keypair.generate()
  await addPayoutWallet(world, creator, asHolder(holder))
  requestAirdrop(world.sandbox.chain, holder.publicKey.toBase58(), 1_000_000_000n)
  return holder
}

function asHolder(pair: Keypair): WalletHolder {
  const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64url')
  const key = createPrivateKey({
    key: {
      kty: 'OKP',
      crv: 'Ed25519',
      x: text(pair.publicKey.toBytes()),
      d: text(pair.secretKey.slice(0, 32)),
    },
    format: 'jwk',
  })
  return { address: pair.publicKey.toBase58(), key }
}

/** A final tip of a token into a custody wallet. It is on the chain and in the lists. */
export async function tipToken(world: World, { wallet }: TestCreator, symbol: string, units: bigint) {
  const token = tokenBySymbol(symbol) as Token
  if (token.mint === solMint) requestAirdrop(world.sandbox.chain, wallet, units)
  else mintTokens(world.sandbox.chain, wallet, token.mint, units)
  const tip = someConfirmation(wallet, { token, units })
  await createConfirmedTips(world, [{ ...tip, facts: { ...tip.facts, received: units } }])
}

/** Asks for a take-out with the mailed code. */
export function prepare(world: World, taker: Person, mint: string, amount: string) {
  return requestSteppedUp<TransferAnswer>(world, taker, ['POST', path], { mint, amount })
}

/** A prepared take-out. */
export async function prepared(
  world: World,
  taker: Person,
  mint: string = usdc.mint,
  amount = '1',
): Promise<TransferBody> {
  const answer = await prepare(world, taker, mint, amount)
  if (answer.body.transfer === undefined) throw new Error(`prepare: ${JSON.stringify(answer.body)}`)
  return answer.body.transfer
}

/** How a wallet changes the instructions before it signs. */
export type Alter = (instructions: TransactionInstruction[]) => TransactionInstruction[]

/** The prepared transaction with the wallet's signature, base64. */
export function signedBy(holder: Keypair, transaction: string | null, alter?: Alter): string {
  const { message } = VersionedTransaction.deserialize(Buffer.from(transaction ?? '', 'base64'))
  const altered = new VersionedTransaction(alter === undefined ? message : alteredMessage(message, alter))
  altered.sign([holder])
  return Buffer.from(altered.serialize()).toString('base64')
}

function alteredMessage(message: VersionedMessage, alter: Alter): VersionedMessage {
  const plain = TransactionMessage.decompile(message)
  plain.instructions = alter(plain.instructions)
  return plain.compileToV0Message()
}

/** Hands a signed transaction in. A custodian must be running. */
export function handIn({ request }: World, { session }: Person, id: string, transaction: string) {
  return request<TransferAnswer>('POST', `${path}/${id}/sign`, { session, body: { transaction } })
}

/** Prepares, signs and completes a take-out. Returns it with its complete transaction. */
export async function signed(
  world: World,
  taker: Taker,
  mint: string = usdc.mint,
  amount = '1',
): Promise<TransferBody> {
  const one = await prepared(world, taker, mint, amount)
  const answer = await handIn(world, taker, one.id, signedBy(taker.holder, one.transaction))
  if (answer.body.transfer === undefined) throw new Error(`sign: ${JSON.stringify(answer.body)}`)
  return answer.body.transfer
}

export async function readTransfer({ request }: World, { session }: Person, id: string) {
  return (await request<TransferAnswer>('GET', `${path}/${id}`, { session })).body.transfer
}

/** Submits a complete transaction, as a browser does. Returns its signature. */
export function submit({ sandbox }: World, transaction: string | null): string {
  return sandbox.chain.submit(Buffer.from(transaction ?? '', 'base64'), { skipPreflight: true })
}

const groupOrder = 2n ** 252n + 27742317777372353535851937790883648493n
const sha512 = (bytes: Uint8Array): Buffer => hash('sha512', bytes, 'buffer')
const littleEndian = (bytes: Uint8Array): bigint =>
  BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)

/** The secret number of a key pair (RFC 8032, 5.1.5). */
function scalarOf(pair: Keypair): bigint {
  const bytes = sha512(pair.secretKey.slice(0, 32)).subarray(0, 32)
  bytes[0] = (bytes[0] ?? 0) & 248
  bytes[31] = ((bytes[31] ?? 0) & 127) | 64
  return littleEndian(bytes)
}

/** A complete transaction with another valid signature of the same message by the wallet: under another id. */
export function resigned(holder: Keypair, transaction: string | null): string {
  const parsed = VersionedTransaction.deserialize(Buffer.from(transaction ?? '', 'base64'))
  const nonce = Keypair.generate()
  const point = nonce.publicKey.toBytes()
  const challenge = Buffer.concat([point, holder.publicKey.toBytes(), parsed.message.serialize()])
  const rest = (scalarOf(nonce) + littleEndian(sha512(challenge)) * scalarOf(holder)) % groupOrder
  const text = rest.toString(16).padStart(64, '0')
  parsed.signatures[0] = Buffer.concat([point, Buffer.from(text, 'hex').reverse()])
  return Buffer.from(parsed.serialize()).toString('base64')
}

/** The batch that signs and follows take-outs, with this world's key. */
export function takeOutBatch({ services, env }: Pick<World, 'services' | 'env'>) {
  const vault = createConfiguredVault(Buffer.from(env['WALLET_KEK'] ?? '', 'base64'))
  return createTakeOutBatch({ ...as('take-outs', services), vault })
}
