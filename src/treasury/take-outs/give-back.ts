import { countCustody, readCustody, unboundOf } from '../../ledger/custody.js'
import { query } from '../../platform/database/database.js'
import type { UnitOfWork } from '../../platform/database/transact.js'
import type { Services } from '../../services.js'
import { endTakeOut } from './end-take-out.js'
import { findLanded } from './find-landed.js'
import { readCustodyWallet } from './sign-take-out.js'
import { type TakeOut, takeOutColumns, takeOutOf } from './take-out.js'

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
    return `the custody wallet holds less than the book with take-out ${id}: it landed, under a signature that is not known`
  const ended = await services.transact(async (uow) => {
    const done = await endTakeOut(uow, id, 'expired', failure)
    if (done) await also(uow.trx)
    return done
  })
  return ended ? undefined : `take-out ${id} has ended meanwhile`
}

/** Whether the tokens are gone from the custody wallet. Whoever floods the key of a payment can hide its transaction, not this. */
async function hasLeft(
  services: Pick<Services, 'db' | 'custodyChain'>,
  { userId, mint, amount }: TakeOut,
): Promise<boolean> {
  const { db, custodyChain } = services
  await countCustody(db, mint, [userId])
  const [book] = await readCustody(db, mint, [userId])
  const wallet = await readCustodyWallet(services, userId)
  const [source] = await custodyChain.readSources([{ wallet, mint }], 'finalized')
  return book === undefined || source === undefined || source.amount < unboundOf(book) + amount
}
