import { setTimeout as sleep } from 'node:timers/promises'
import { type Keypair, VersionedTransaction } from '@solana/web3.js'
import type { Knex } from 'knex'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import { signMessageBytes } from '../../../src/kernel/ed25519.js'
import { displayText } from '../../../src/kernel/money.js'
import { usdc } from '../../../src/kernel/tokens.js'
import {
  type ApiAnswer,
  type ApiRequest,
  type Creator,
  codeIn,
  requestUntilAnswered,
} from '../../kit/client.js'
import { requestAirdrop } from '../../sandbox/chain/faucet.js'
import type { LocalChain } from '../../sandbox/chain/local-chain.js'

/** A creator with a wallet of their own. */
export interface Taker extends Creator {
  readonly email: string
  readonly holder: Keypair
}

export interface TakeOutNeeds {
  readonly url: string
  readonly db: Knex
  readonly chain: LocalChain
  /** The texts of the mails to an address, newest first. */
  readonly readMails: (email: string) => Promise<readonly string[]>
}

/** What the browser does with the complete transaction. `never`: it is closed, or killed, before it submits. */
export type Submitting = 'once' | 'twice' | 'late' | 'never'

const codeMs = 90_000
const pollMs = 50
const lateMs = 1500
const lamports = 100_000_000_000n
const transfersPath = '/creators/wallet/transfers'

/** Gives a creator a proven payout wallet, with SOL for fees. */
export async function addPayoutWallet(needs: TakeOutNeeds, taker: Taker): Promise<void> {
  const wallet = taker.holder.publicKey.toBase58()
  requestAirdrop(needs.chain, wallet, lamports)
  const challenge = await request(needs, taker, ['POST', '/creators/payout-wallet/challenge', { wallet }])
  const message = Buffer.from(String(challenge.body['message']))
  const signature = encodeBase58(signMessageBytes(taker.holder.secretKey, message))
  const answer = await requestSteppedUp(needs, taker, [
    'PUT',
    '/creators/payout-wallet',
    { wallet, signature },
  ])
  if (answer?.status !== 200)
    throw new Error(`payout-wallet: ${answer?.status} ${JSON.stringify(answer?.body)}`)
}

/**
 * Prepares a take-out of USDC, signs it with the payout wallet, hands it in, and submits what the service answers. Returns how far
 * it came. A refusal is an ordinary end.
 */
export async function takeOut(
  needs: TakeOutNeeds,
  taker: Taker,
  micro: bigint,
  submitting: Submitting,
): Promise<string> {
  const amount = displayText(micro, usdc.decimals)
  const wanted = { mint: usdc.mint, amount }
  const answer = await requestSteppedUp(needs, taker, ['POST', transfersPath, wanted])
  const prepared = transferOf(answer)
  if (prepared === undefined) return `refused: ${answer?.body['code'] ?? 'no code came'}`
  const transaction = signedBy(taker.holder, prepared.transaction)
  const signPath = `${transfersPath}/${prepared.id}/sign`
  const handedIn = await request(needs, taker, ['POST', signPath, { transaction }])
  const complete = transferOf(handedIn)?.transaction
  if (complete == null) return `not signed: ${handedIn.body['code'] ?? 'no answer came'}`
  if (submitting === 'never') return 'signed'
  if (submitting === 'late') await sleep(lateMs)
  for (let times = submitting === 'twice' ? 2 : 1; times > 0; times--)
    needs.chain.submit(Buffer.from(complete, 'base64'), { skipPreflight: true })
  return 'submitted'
}

interface Transfer {
  readonly id: string
  readonly transaction: string | null
}

function transferOf(answer: ApiAnswer | undefined): Transfer | undefined {
  return answer?.status === 200 ? (answer.body['transfer'] as Transfer) : undefined
}

function signedBy(holder: Keypair, transaction: string | null): string {
  const parsed = VersionedTransaction.deserialize(Buffer.from(transaction ?? '', 'base64'))
  parsed.sign([holder])
  return Buffer.from(parsed.serialize()).toString('base64')
}

/** Sends a request, and repeats it with the code that it has mailed. Undefined: no code came. */
async function requestSteppedUp(
  needs: TakeOutNeeds,
  taker: Taker,
  [method, path, body]: ApiRequest,
): Promise<ApiAnswer | undefined> {
  await forgetCodes(needs, taker)
  const before = await newestCode(needs, taker)
  const first = await request(needs, taker, [method, path, body])
  if (first.body['code'] !== 'step_up_required') return first
  for (const deadline = Date.now() + codeMs; Date.now() < deadline; await sleep(pollMs)) {
    const code = await newestCode(needs, taker)
    if (code === before) continue
    return request(needs, taker, [method, path, { ...(body as object), code }])
  }
  return undefined
}

/** There are ten codes a day. Here a day is short. */
async function forgetCodes({ db }: TakeOutNeeds, { userId }: Taker): Promise<void> {
  await db('one_time_secrets').where({ user_id: userId, purpose: 'step_up' }).delete()
}

async function newestCode({ readMails }: TakeOutNeeds, { email }: Taker): Promise<string | undefined> {
  for (const text of await readMails(email)) {
    const code = codeIn(text)
    if (code !== undefined) return code
  }
  return undefined
}

const request = ({ url }: TakeOutNeeds, { cookie }: Taker, wanted: ApiRequest): Promise<ApiAnswer> =>
  requestUntilAnswered(url, wanted, { cookie })
