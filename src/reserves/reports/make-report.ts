import { displayText, nairaText, usdcText } from '../../kernel/money.js'
import type { KeySigner } from '../../kernel/signing-key.js'
import { usdc } from '../../kernel/tokens.js'
import { booksStatementMs } from '../../ledger/invariants.js'
import { findLastAcceptedRate, type LastAcceptedRate } from '../../market/accepted-rates.js'
import { pausePayouts } from '../../outgoing/guards.js'
import { readClock } from '../../platform/database/read-clock.js'
import { rateDecimals } from '../../ports/exchange-rates.js'
import type { Services } from '../../services.js'
import { type FloatReading, findLastReading } from '../float/float-readings.js'
import { owedMicro, type Position, readPosition } from '../position.js'
import { computeSolvency, type Solvency } from '../solvency.js'
import { type CustodyTotals, readCustodyTotals } from './read-custody.js'
import { hasDailyReport, insertReport, type StoredReport } from './report-rows.js'

export type ReportNeeds = Pick<Services, 'db' | 'transact' | 'chain' | 'config' | 'metrics' | 'log'>

export interface ReportOptions {
  readonly signer: KeySigner
  /** Reads the float again, so that the report has it as it is now. */
  readonly readFloat: () => Promise<FloatReading | undefined>
  /** The report of the day: once. */
  readonly daily: boolean
  readonly onProgress?: (wallets: number) => void
}

interface Facts {
  readonly position: Position
  readonly custody: CustodyTotals
  readonly treasury: { readonly chain: bigint; readonly slot: bigint }
  readonly float: FloatReading | undefined
  readonly rate: LastAcceptedRate | undefined
  readonly solvency: Solvency
}

/**
 * Reads what is owed and what is there, signs it and stores it. Wallets that lack USDC on the chain stop payouts, in the same
 * transaction, until a person decides. Any other lack alarms and stops nothing. Undefined when another process has stored the
 * report of the day meanwhile.
 */
export async function makeReport(
  services: ReportNeeds,
  { signer, readFloat, daily, onProgress }: ReportOptions,
): Promise<StoredReport | undefined> {
  await readFloat()
  const facts = await readFacts(services, onProgress)
  const { custody } = facts
  const stored = await services.transact(async ({ trx }) => {
    const report = JSON.stringify(presentReport(services.config, await readClock(trx), facts))
    const signed = { report, signature: signer.sign(report) }
    const row = await insertReport(trx, signed, signer, { daily, shortWallets: custody.shortWallets })
    const reason = `${custody.shortCount} custody wallets lack ${usdcText(custody.short)} on the chain`
    if (row !== undefined && custody.short > 0n) await pausePayouts({ trx }, { by: 'custody_short', reason })
    return row
  })
  if (stored !== undefined) alarm(services, facts)
  return stored
}

/**
 * The ledger's snapshot comes first. What lands on the chain after it is more than the snapshot has, and never less.
 */
async function readFacts(
  { db, chain, config }: ReportNeeds,
  onProgress: ReportOptions['onProgress'],
): Promise<Facts> {
  const rate = await findLastAcceptedRate(db)
  const float = await findLastReading(db)
  const position = await readPosition(db, booksStatementMs)
  const { slot, amounts } = await chain.finalizedHoldings(
    [{ wallet: config.tips.treasuryWallet, mint: usdc.mint }],
    0n,
  )
  const treasury = { chain: amounts[0] ?? 0n, slot }
  const custody = await readCustodyTotals({ db, chain }, onProgress)
  const outside = {
    custodyShort: custody.short,
    treasuryChain: treasury.chain,
    floatUnexplained: float?.unexplained ?? 0n,
  }
  const solvency = computeSolvency(position, outside, rate?.value)
  return { position, custody, treasury, float, rate, solvency }
}

const micro = (units: bigint): string => displayText(units, usdc.decimals)
const naira = (kobo: bigint): string => displayText(kobo, 2)

/**
 * What everybody may read: sums, no names and no addresses but the treasury's (docs/decisions/0023). The order of the fields is
 * the order in the signed text.
 */
function presentReport(
  { http, tips }: Pick<Services['config'], 'http' | 'tips'>,
  now: Date,
  { position, custody, treasury, float, rate, solvency }: Facts,
) {
  const { owed, ngn } = position
  return {
    version: 1,
    publisher: http.publicUrl,
    time: now.toISOString(),
    owed: {
      USDC: {
        available: micro(owed.available),
        pending: micro(owed.pending),
        held: micro(owed.held),
        total: micro(owedMicro(position)),
      },
      NGN: { suspense: naira(owed.suspense) },
    },
    custody: {
      mint: usdc.mint,
      wallets: custody.wallets,
      USDC: { book: micro(custody.book), chain: micro(custody.chain), short: micro(custody.short) },
      shortWallets: custody.shortCount,
      slot: String(custody.slot),
    },
    treasury: {
      wallet: tips.treasuryWallet,
      USDC: { book: micro(position.usdc.treasury), chain: micro(treasury.chain) },
      slot: String(treasury.slot),
    },
    float: {
      NGN: {
        book: naira(ngn.float),
        balance: float === undefined ? null : naira(float.balance),
        underWay: float === undefined ? null : naira(float.underWay),
        unexplained: float === undefined ? null : naira(float.unexplained),
      },
      readAt: float?.readAt.toISOString() ?? null,
    },
    receivables: {
      NGN: { collections: naira(ngn.collections), inTransit: naira(ngn.inTransit) },
      USDC: { creators: micro(position.usdc.receivables), inTransit: micro(position.usdc.inTransit) },
    },
    rate:
      rate === undefined
        ? null
        : { NGN: displayText(rate.value, rateDecimals), asOf: rate.asOf.toISOString() },
    surplus: { NGN: solvency.surplus === undefined ? null : naira(solvency.surplus) },
  }
}

function alarm({ metrics, log }: ReportNeeds, { custody, position, solvency: { surplus } }: Facts): void {
  if (custody.short > 0n) {
    metrics.alerts.inc({ kind: 'custody_short' })
    log.error(
      { wallets: custody.shortCount, short: usdcText(custody.short) },
      'custody wallets hold less on the chain than the book says: payouts are paused. Run: npm run ops -- reserves',
    )
  }
  if (surplus !== undefined && surplus < 0n) {
    metrics.alerts.inc({ kind: 'reserves_short' })
    log.error(
      { lack: nairaText(-surplus), providerFees: nairaText(position.providerFees) },
      "the platform has less than it owes; the provider's fees are a part of it until the owners pay for them. Run: npm run ops -- reserves",
    )
  }
}

/**
 * Makes the report of the day if there is none yet. Runs every hour, so one that could not be made follows later. Until then nobody
 * compares the wallets with the chain, so that alarms.
 */
export function createDailyReport(
  services: ReportNeeds,
  signer: KeySigner,
  readFloat: () => Promise<FloatReading | undefined>,
): () => Promise<void> {
  return async () => {
    if (await hasDailyReport(services.db)) return
    try {
      await makeReport(services, { signer, readFloat, daily: true })
    } catch (error) {
      services.metrics.alerts.inc({ kind: 'reserve_report_failed' })
      throw error
    }
  }
}
