import type { Knex } from 'knex'
import { sumOf } from '../../kernel/money.js'
import { platformAccount, transferEntries } from '../../ledger/accounts.js'
import { lockCustody, moveCustody } from '../../ledger/custody.js'
import { type Posted, postReserved, reserve, voidReserved } from '../../ledger/transfers.js'
import { changesOne } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { hasLeft, otherShortage } from '../custody-move.js'
import type { SweepState } from './lifecycle.js'
import { lockSweep, readParts, type SweepRow } from './sweep.js'

// Every change of a sweep's state. False: it is in another state. PostgreSQL refuses a step that lifecycle.ts does not list.

/** The custodian has signed it. */
export function setSigned(
  trx: Knex,
  id: string,
  message: Uint8Array,
  signatures: Readonly<Record<string, string>>,
  lastValidHeight: bigint | number,
): Promise<boolean> {
  return changesOne(trx, {
    name: 'sweeps.signed',
    text: /* sql */ `
      update sweeps set state = 'signed', signed_at = clock_timestamp(), message = $2, signatures = $3, last_valid_height = $4,
        last_error = null
      where id = $1 and state = 'planned' returning id`,
    values: [id, Buffer.from(message), JSON.stringify(signatures), lastValidHeight],
  })
}

/** It has the payer's signature, so it may land. */
export function setSent(trx: Knex, id: string, signature: string): Promise<boolean> {
  return changesOne(trx, {
    name: 'sweeps.sent',
    text: /* sql */ `
      update sweeps set state = 'sent', signature = $2, sent_at = clock_timestamp(), due_at = clock_timestamp(), last_error = null
      where id = $1 and state = 'signed' returning id`,
    values: [id, signature],
  })
}

export interface SweepEnd {
  readonly from: SweepState
  readonly to: 'final' | 'failed' | 'dead'
  /** Why it did not move anything. */
  readonly failure?: string
}

const longestFailure = 300

/**
 * Ends a sweep with its book and its ledger transfer, in the caller's transaction. Landed USDC is the treasury's, everything else
 * is in custody as before. False when it is in another state: somebody else has ended it.
 */
export async function endSweep(
  { trx }: Pick<UnitOfWork, 'trx'>,
  id: string,
  { from, to, failure }: SweepEnd,
): Promise<boolean> {
  if ((await lockSweep(trx, id)) !== from) return false
  if (from !== 'planned') await settle(trx, id, to === 'final')
  return changesOne(trx, {
    name: 'sweeps.end',
    text: /* sql */ `
      update sweeps set state = $3, ended_at = clock_timestamp(), due_at = null, failure = $4, last_error = null
      where id = $1 and state = $2 returning id`,
    values: [id, from, to, failure?.slice(0, longestFailure) ?? null],
  })
}

async function settle(trx: UnitOfWork['trx'], id: string, landed: boolean): Promise<void> {
  const parts = await readParts(trx, id)
  const [first] = parts
  if (first === undefined) throw new Error(`sweep ${id} has no parts`)
  const userIds = parts.map(({ userId }) => userId)
  await lockCustody(trx, userIds, first.mint)
  await moveCustody(trx, landed ? 'sweep' : 'giveBack', parts)
  await (landed
    ? moveToTreasury(
        trx,
        id,
        sumOf(parts, ({ amount }) => amount),
      )
    : returnToCustody(trx, id))
}

const key = (sweepId: string): string => `sweep:${sweepId}`
const transit = platformAccount('in_transit', 'USDC')

// What the platform has carries a minus, so an asset leaves an account by an entry above zero.

/** A sweep is signed: its USDC may leave custody. No balance of a creator changes. */
export function moveToTransit(
  trx: Knex,
  sweepId: string,
  moves: readonly { readonly amount: bigint }[],
): Promise<Posted> {
  const micro = sumOf(moves, ({ amount }) => amount)
  const entries = transferEntries(micro, transit, platformAccount('custody_wallets', 'USDC'))
  return reserve(trx, { key: key(sweepId), ref: key(sweepId), entries })
}

/** It landed. */
function moveToTreasury(trx: Knex, sweepId: string, micro: bigint): Promise<Posted> {
  const entries = transferEntries(micro, platformAccount('treasury', 'USDC'), transit)
  return postReserved(trx, { key: key(sweepId), ref: key(sweepId), entries })
}

/** It failed, or can no longer land. */
function returnToCustody(trx: Knex, sweepId: string): Promise<Posted> {
  return voidReserved(trx, key(sweepId))
}

/** The creator of a part whose custody wallet lacks it: the sweep may have landed although no endpoint shows it. */
export async function findShort(
  services: Pick<Services, 'db' | 'custodyChain'>,
  id: string,
): Promise<string | undefined> {
  for (const part of await readParts(services.db, id)) if (await hasLeft(services, part)) return part.userId
  return undefined
}

/**
 * Ends a sweep that waits for a person, with everything back in custody. Asks the chain once more. Returns why it may not; `also`
 * is written in the same transaction.
 */
export async function declareDead(
  services: Pick<Services, 'db' | 'transact' | 'custodyChain'>,
  { id, undecided, signature, lastValidHeight }: SweepRow,
  failure: string,
  also: (trx: UnitOfWork['trx']) => Promise<void>,
): Promise<string | undefined> {
  if (!undecided || signature === null) return `sweep ${id} does not wait for a person`
  const { transact, custodyChain } = services
  const [fate] = await custodyChain.fates([{ signature, lastValidHeight: Number(lastValidHeight) }])
  if (fate?.kind !== 'gone')
    return `the chain knows sweep ${id}, or does not answer: it is ${fate?.kind ?? 'open'}`
  const short = await findShort(services, id)
  if (short !== undefined)
    return `the custody wallet of creator ${short} holds less than the book with sweep ${id}: the sweep landed, ${otherShortage}`
  const ended = await transact(async (uow) => {
    const done = await endSweep(uow, id, { from: 'sent', to: 'dead', failure })
    if (done) await also(uow.trx)
    return done
  })
  return ended ? undefined : `sweep ${id} has ended meanwhile`
}
