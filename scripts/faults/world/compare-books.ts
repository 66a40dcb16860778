import type { Knex } from 'knex'
import { nairaText, sumOf, usdcText } from '../../../src/kernel/money.js'
import { usdc } from '../../../src/kernel/tokens.js'
import { type CustodyBook, countCustody, readCustody } from '../../../src/ledger/custody.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { findLastAcceptedRate } from '../../../src/market/accepted-rates.js'
import { koboOf, owedMicro, readPosition } from '../../../src/reserves/position.js'
import { readCredited } from '../../../src/tips/confirm/credit-tips.js'
import type { Report } from '../../kit/report.js'
import { usdcOf } from './compare-moves.js'
import { countShortWallets } from './operator.js'
import { settle } from './settle.js'
import type { Stage } from './stage.js'
import type { Truth } from './truth.js'

/** What the books of the service say beside what chain and bank say. */
export type Books = Pick<Report, 'rows' | 'faults'>

const readsMax = 20
/** A difference counts when it is there three times: a reading of the float by the clock may have begun before the operator's. */
const comparisonsMax = 3

/** Waits until nothing is under way, and compares each account of the ledger with the stand-ins' own books. */
export async function compareBooks(stage: Stage, truth: Truth): Promise<Books> {
  for (let times = 1; ; times++) {
    await settle(stage, truth)
    const books = await compareOnce(stage, truth)
    if (books.faults.length === 0 || times >= comparisonsMax) return books
  }
}

/** Micro-USDC and kobo. */
async function compareOnce(stage: Stage, truth: Truth): Promise<Books> {
  const shortWallets = await countShortWallets(stage)
  const { db, sandbox, creators } = stage
  const { position, outside, books, unseen } = await readBoth(stage, truth)
  const owed = owedMicro(position)
  const custody = outside.custody - sumOf(unseen, ({ micro }) => micro)
  const { usdc: own, ngn, exchanged } = position
  const naira = (await findLastAcceptedRate(db))?.value ?? 0n
  const byRates = koboOf(exchanged.USDC, naira) + exchanged.NGN
  const covered = koboOf(custody + outside.treasury + own.receivables - owed, naira)
  const surplus = outside.float - position.owed.suspense + covered - byRates
  return {
    rows: [
      ['owed to creators', usdcText(owed)],
      ['custody on the chain', usdcText(custody)],
      ['treasury on the chain', usdcText(outside.treasury)],
      ['balance at the bank', nairaText(outside.float)],
      ['creators owe', usdcText(own.receivables)],
      ['left if everybody is paid', nairaText(surplus)],
      ['what rates changed', nairaText(byRates)],
    ],
    faults: [
      ...difference('custody_wallets', own.custody, custody),
      ...difference('treasury', own.treasury, outside.treasury),
      ...difference('in_transit USDC', own.inTransit, 0n),
      ...difference('float_ngn', ngn.float, outside.float),
      // The bank has added every payment to its balance, so none is left to come.
      ...difference('collections_receivable', ngn.collections, 0n),
      ...difference('in_transit NGN', ngn.inTransit, 0n),
      ...creators.flatMap(({ userId, wallet }) => {
        const ofThem = unseen.filter((one) => one.userId === userId)
        const onChain = usdcOf(sandbox.chain, wallet) - sumOf(ofThem, ({ micro }) => micro)
        return difference(`custody of ${userId}`, bookedOf(books, userId), onChain)
      }),
      ...(await bookFaults(db)),
      ...(surplus < 0n
        ? [`chain and bank lack ${-surplus} kobo of what is owed, and rates are not the reason`]
        : []),
      ...(shortWallets === 0 ? [] : [`the service says that ${shortWallets} wallets are short`]),
    ],
  }
}

/** The invariants of the ledger that do not hold. */
export async function bookFaults(db: Knex): Promise<string[]> {
  const { invariants } = await checkBooks(db)
  return invariants
    .filter(({ violations }) => violations > 0n)
    .map(({ name }) => `an invariant of the ledger does not hold: ${name}`)
}

/** The books of both sides. Read again when the ledger has changed in between: a late webhook may release what waited. */
async function readBoth(stage: Stage, truth: Truth) {
  const { db, creators, treasury } = stage
  const { chain, fiatpay } = stage.sandbox
  const newest = async () => String((await db('ledger_transfers').max({ id: 'id' }).first())?.id)
  for (let reads = 0; reads < readsMax; reads++) {
    const before = await newest()
    const position = await readPosition(db)
    await countCustody(db)
    const books = await readCustody(db, usdc.mint)
    const unseen = await readUnseen(db, truth)
    const outside = {
      custody: creators.reduce((sum, { wallet }) => sum + usdcOf(chain, wallet), 0n),
      treasury: usdcOf(chain, treasury.publicKey.toBase58()),
      float: BigInt(fiatpay.balanceKobo),
    }
    if (before === (await newest())) return { position, outside, books, unseen }
  }
  throw new Error('the ledger keeps changing')
}

/** Deposits that the finder has not come to yet, so no book has them. */
async function readUnseen(db: Knex, { deposits }: Truth) {
  const paid = [...deposits].map(([signature, deposit]) => ({ ...deposit, signature }))
  const tips: { id: string; wallet: string }[] = await db('tips as t')
    .join('parties as p', 'p.id', 't.recipient_party')
    .whereIn('t.id', [...deposits.keys()])
    .select('t.id', 'p.wallet')
  const isCredited = await readCredited(db, paid, (id) => tips.find((tip) => tip.id === id)?.wallet)
  return paid.filter((one) => !isCredited(one))
}

function bookedOf(books: readonly CustodyBook[], userId: string): bigint {
  const book = books.find((one) => one.userId === userId)
  return book === undefined ? 0n : book.final - book.swept - book.takenOut
}

function difference(account: string, ledger: bigint, outside: bigint): string[] {
  return ledger === outside ? [] : [`${account}: the ledger has ${ledger}, chain or bank ${outside}`]
}
