import type { Knex } from 'knex'
import { verifyMessageSignature } from '../../kernel/ed25519.js'
import { usdc } from '../../kernel/tokens.js'
import { platformAccount, userAccount } from '../../ledger/accounts.js'
import { lockCustody, moveCustody } from '../../ledger/custody.js'
import { postReserved, reserve, voidReserved } from '../../ledger/transfers.js'
import { changesOne, query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { hasLeft, otherShortage } from '../custody-move.js'
import { lockTakeOut, type TakeOut, takeOutChannel, takeOutColumns, takeOutOf } from './take-out.js'

// Every change of a take-out's state. False: it is in another state. PostgreSQL refuses a step that lifecycle.ts does not list.

/** The custodian has signed what the payout wallet handed in; or the chain shows that it landed, and its bytes are lost. */
export function setSigned(
  trx: Knex,
  id: string,
  {
    signature,
    message,
    transaction = Buffer.alloc(0),
  }: Partial<Readonly<Record<'message' | 'transaction', Uint8Array>>> & { readonly signature: string },
): Promise<boolean> {
  return changesOne(trx, {
    name: 'take-outs.sign',
    text: /* sql */ `
      update wallet_transfers set state = 'signed', signed_at = clock_timestamp(), message = coalesce($2, message), transaction = $3,
        signature = $4, last_error = null
      where id = $1 and state = 'prepared' returning id`,
    values: [id, message && Buffer.from(message), Buffer.from(transaction), signature],
  })
}

/** Its last valid height has passed. */
export function expirePrepared(db: Knex, id: string): Promise<boolean> {
  return changesOne(db, {
    name: 'take-outs.expire',
    text: /* sql */ `
      update wallet_transfers set state = 'expired', ended_at = clock_timestamp(), due_at = null, last_error = null
      where id = $1 and state = 'prepared' returning id`,
    values: [id],
  })
}

/**
 * Ends a signed take-out with its book and its ledger transfer, in the caller's transaction. What landed is the creator's own,
 * everything else is in custody as before. False when it is in another state: somebody else has ended it.
 */
export async function endTakeOut(
  { trx, publish }: Pick<UnitOfWork, 'trx' | 'publish'>,
  id: string,
  to: 'final' | 'failed' | 'expired',
  failure: string | null = null,
): Promise<boolean> {
  const takeOut = await lockTakeOut(trx, id)
  if (takeOut?.state !== 'signed') return false
  const { userId, mint, amount } = takeOut
  await lockCustody(trx, [userId], mint)
  await moveCustody(trx, to === 'final' ? 'takeOut' : 'giveBack', [{ userId, mint, amount }])
  await (to === 'final' ? postTakeOut(trx, takeOut) : returnTakeOut(trx, takeOut))
  publish(takeOutChannel(id))
  return changesOne(trx, {
    name: 'take-outs.end',
    text: /* sql */ `
      update wallet_transfers set state = $2, ended_at = clock_timestamp(), due_at = null, failure = $3, last_error = null
      where id = $1 and state = 'signed' returning id`,
    values: [id, to, failure],
  })
}

// The ledger counts only USDC. What the platform has carries a minus, so an asset leaves an account by an entry above zero.

type Moved = Pick<TakeOut, 'id' | 'userId' | 'mint' | 'amount'>

const key = (id: string): string => `take-out:${id}`
const transit = platformAccount('in_transit', 'USDC')

/** It is signed: the creator cannot withdraw it meanwhile. Throws `insufficient_balance`. */
export async function holdTakeOut(trx: Knex, { id, userId, mint, amount }: Moved): Promise<void> {
  if (mint !== usdc.mint) return
  const entries = [
    { account: userAccount(userId, 'available', 'USDC'), amount: -amount },
    { account: userAccount(userId, 'held', 'USDC'), amount },
    { account: platformAccount('custody_wallets', 'USDC'), amount },
    { account: transit, amount: -amount },
  ]
  await reserve(trx, { key: key(id), ref: key(id), entries })
}

/** It landed: neither the creator's balance nor the custody wallet has it any more. */
async function postTakeOut(trx: Knex, { id, userId, mint, amount }: Moved): Promise<void> {
  if (mint !== usdc.mint) return
  const entries = [
    { account: userAccount(userId, 'held', 'USDC'), amount: -amount },
    { account: transit, amount },
  ]
  await postReserved(trx, { key: key(id), ref: key(id), entries })
}

/** It failed, or can no longer land. */
async function returnTakeOut(trx: Knex, { id, mint }: Moved): Promise<void> {
  if (mint === usdc.mint) await voidReserved(trx, key(id))
}

/**
 * Whether a take-out landed under another signature than the one we know. The payout wallet signs first, so its signature is the
 * transaction's id, and it can make another one of the same message whenever it likes. The network executes a message once, and the
 * key in the payment is named by no other honest transaction. Which signature is one of our message is computed here: an endpoint
 * may show anything as the transaction. `unknown`: somebody floods the key with more than are read.
 */
export async function findLanded(
  { custodyChain }: Pick<Services, 'custodyChain'>,
  {
    referenceKey,
    signature,
    message,
    payoutWallet,
  }: Pick<TakeOut, 'referenceKey' | 'signature' | 'message' | 'payoutWallet'>,
): Promise<{ readonly signature: string } | 'none' | 'unknown'> {
  const { signatures, whole } = await custodyChain.signaturesNaming(referenceKey)
  for (const one of signatures)
    if (one !== signature && (await verifyMessageSignature(payoutWallet, message, one)))
      return { signature: one }
  return whole ? 'none' : 'unknown'
}

/** The wallet's other signature of the message, under which it landed. */
export function setSignature(db: Knex, id: string, signature: string): Promise<boolean> {
  return changesOne(db, {
    name: 'take-outs.other-signature',
    text: `update wallet_transfers set signature = $2 where id = $1 and state = 'signed' returning id`,
    values: [id, signature],
  })
}

/** The signed take-outs, oldest first. */
export async function listSigned({ db }: Pick<Services, 'db'>): Promise<TakeOut[]> {
  const rows = await query<Omit<TakeOut, 'amount'> & { readonly amount: string }>(db, {
    name: 'take-outs.all-signed',
    text: `select ${takeOutColumns} from wallet_transfers t where state = 'signed' order by signed_at, id`,
    values: [],
  })
  return rows.map(takeOutOf)
}

/**
 * Gives back a take-out that waits for a person. Asks the chain once more. Returns why it may not; `also` is written in the same
 * transaction.
 */
export async function giveBack(
  services: Pick<Services, 'db' | 'custodyChain' | 'transact'>,
  takeOut: TakeOut,
  failure: string,
  also: (trx: UnitOfWork['trx']) => Promise<void>,
): Promise<string | undefined> {
  const { id, signature, lastValidHeight, undecidedAt } = takeOut
  if (undecidedAt === null || signature === null) return `take-out ${id} does not wait for a person`
  const [fate] = await services.custodyChain.fates([{ signature, lastValidHeight: Number(lastValidHeight) }])
  const landed = await findLanded(services, takeOut)
  if (fate?.kind !== 'gone' || typeof landed === 'object')
    return `the chain knows take-out ${id}, or does not answer: it is ${typeof landed === 'object' ? landed.signature : fate?.kind}`
  if (await hasLeft(services, takeOut))
    return `the custody wallet holds less than the book with take-out ${id}: it landed under a signature that is not known, ${otherShortage}`
  const ended = await services.transact(async (uow) => {
    const done = await endTakeOut(uow, id, 'expired', failure)
    if (done) await also(uow.trx)
    return done
  })
  return ended ? undefined : `take-out ${id} has ended meanwhile`
}
