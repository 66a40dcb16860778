import { usdc } from '../../../src/kernel/tokens.js'
import { type CustodyBook, countCustody, readCustody } from '../../../src/ledger/custody.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { findLastAcceptedRate } from '../../../src/market/accepted-rates.js'
import { koboOf, owedMicro, type Position, readPosition } from '../../../src/reserves/position.js'
import { usdcOf } from './compare-moves.js'
import type { OwnReport } from './operator.js'
import type { Stage } from './stage.js'
import type { Truth } from './truth.js'

/** What the books of the service say and what chain and bank say, while nothing is under way. Micro-USDC and kobo. */
export interface Sample {
  readonly owed: bigint
  readonly custody: bigint
  readonly treasury: bigint
  readonly float: bigint
  readonly receivables: bigint
  /** What is left, in kobo, if everybody is paid: without what the rate has changed since the money was exchanged. */
  readonly surplus: bigint
  /** What the rate has changed. */
  readonly byRates: bigint
  readonly faults: readonly string[]
}

const readsMax = 20

/** Compares each account of the ledger with the stand-ins' own books. Call it when nothing is under way. */
export async function takeSample(stage: Stage, truth: Truth, report: OwnReport): Promise<Sample> {
  const { db, sandbox } = stage
  const { position, outside, books } = await readBoth(stage)
  const owed = owedMicro(position)
  const direct = [...truth.deposits.values()].reduce((sum, micro) => sum + micro, 0n)
  const custody = outside.custody - direct
  const { usdc: own, ngn } = position
  const naira = (await findLastAcceptedRate(db))?.value ?? 0n
  const { exchanged } = position
  const byRates = koboOf(exchanged.USDC, naira) + exchanged.NGN
  const covered = koboOf(custody + outside.treasury + own.receivables - owed, naira)
  const surplus = outside.float - position.owed.suspense + covered - byRates
  const { invariants } = await checkBooks(db)
  const faults = [
    ...difference('custody_wallets', own.custody, custody),
    ...difference('treasury', own.treasury, outside.treasury),
    ...difference('in_transit USDC', own.inTransit, 0n),
    ...difference('float_ngn', ngn.float, outside.float),
    // The bank has added every payment to its balance, so none is left to come.
    ...difference('collections_receivable', ngn.collections, 0n),
    ...difference('in_transit NGN', ngn.inTransit, 0n),
    ...stage.creators.flatMap((creator) => {
      const book = books.find(({ userId }) => userId === creator.userId)
      const unattributed = truth.deposits.get(creator.userId) ?? 0n
      const onChain = usdcOf(sandbox.chain, creator.wallet) - unattributed
      return difference(`custody of ${creator.userId}`, bookedOf(book), onChain)
    }),
    ...invariants.filter(({ violations }) => violations > 0n).map(({ name }) => `the ledger: ${name}`),
    ...(surplus < 0n
      ? [`chain and bank lack ${-surplus} kobo of what is owed, and rates are not the reason`]
      : []),
    ...(report.shortWallets === 0 ? [] : [`the service says that ${report.shortWallets} wallets are short`]),
  ]
  return {
    owed,
    custody,
    treasury: outside.treasury,
    float: outside.float,
    receivables: own.receivables,
    surplus,
    byRates,
    faults,
  }
}

interface Outside {
  readonly custody: bigint
  readonly treasury: bigint
  readonly float: bigint
}

/** The books of both sides. Read again when the ledger has changed in between: a late webhook may release what waited. */
async function readBoth(
  stage: Stage,
): Promise<{ position: Position; outside: Outside; books: readonly CustodyBook[] }> {
  const { db } = stage
  for (let reads = 0; reads < readsMax; reads++) {
    const before = await newestTransfer(stage)
    const position = await readPosition(db)
    await countCustody(db)
    const books = await readCustody(db, usdc.mint)
    const outside = readOutside(stage)
    if (before === (await newestTransfer(stage))) return { position, outside, books }
  }
  throw new Error('the ledger keeps changing')
}

function readOutside({ sandbox: { chain, fiatpay }, creators, treasury }: Stage): Outside {
  return {
    custody: creators.reduce((sum, { wallet }) => sum + usdcOf(chain, wallet), 0n),
    treasury: usdcOf(chain, treasury.publicKey.toBase58()),
    float: BigInt(fiatpay.balanceKobo),
  }
}

async function newestTransfer({ db }: Stage): Promise<string> {
  const row = await db('ledger_transfers').max({ id: 'id' }).first()
  return String(row?.id)
}

const bookedOf = (book: CustodyBook | undefined): bigint =>
  book === undefined ? 0n : book.final - book.swept - book.takenOut

function difference(account: string, ledger: bigint, outside: bigint): string[] {
  return ledger === outside ? [] : [`${account}: the ledger has ${ledger}, chain or bank ${outside}`]
}
