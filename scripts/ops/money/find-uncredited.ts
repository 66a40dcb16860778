import { displayText, usdcText } from '../../../src/kernel/money.js'
import { compareChain } from '../../../src/reserves/compare-chain.js'
import { confirmTips } from '../../../src/tips/confirm/confirm-tips.js'
import { creditMissing } from '../../../src/tips/confirm/credit-tips.js'
import {
  type CreditGap,
  type CreditGaps,
  findCreditGaps,
  maxDays,
  type TipPosition,
} from '../../../src/tips/confirm/find-uncredited.js'
import { type LandedPayment, recordLanded } from '../../../src/tips/confirm/record-landed.js'
import {
  applyOptions,
  defineCommand,
  defineOptions,
  type Outcome,
  pastTime,
  type Values,
  wholeNumber,
} from '../support/command.js'

import { applyHint, type Order } from '../support/order.js'
import { withServices } from '../support/services.js'

const options = defineOptions(applyOptions, {
  '--days <n>': `how far back, 1 to ${maxDays}; default 30`,
  '--since <t>': 'a time such as 2026-11-22T08:00:00Z, from which on unrecorded payments are looked for',
  '--apply': 'post the missing credits, and record the unrecorded payments',
})

/** Finds creators who were paid by the transaction of a recorded signature and not credited, and credits them. */
const usage = `npm run ops -- find-uncredited [--days <n>] [--since <time>] [--apply]

Reads the crypto tips of the last days and their transactions from the chain, and lists every custody wallet that received
USDC without a credit in the ledger. It also reads recorded signatures that the service did not confirm: one that is a tip
after all is confirmed, and money that arrived without a tip ("arrived, no tip") is credited alone. Without --apply this
changes nothing. Only final transactions are credited; run it again for the others. The same credit is never posted twice.
Signatures that the verifier still checks are left to it. Progress is printed to standard error.

--since also walks every custody wallet on the chain back to that time and lists payments whose signatures are not recorded: a restore has
lost them, or nobody has reported them. With --apply they are recorded as if they had been reported, and the verifier confirms them.`

const defaultDays = 30

type Given = Values<typeof options>
type Transaction = Parameters<Order['audit']>[0]
type Services = Parameters<Parameters<typeof withServices>[1]>[0]

interface Totals {
  readonly gaps: CreditGap[]
  credited: number
  tips: number
  unread: number
  readonly unrecorded: readonly LandedPayment[]
}

async function run(values: Given, order: Order): Promise<Outcome> {
  const days = wholeNumber('--days', values.days ?? String(defaultDays), 1, maxDays)
  const since = values.since === undefined ? undefined : pastTime('--since', values.since)
  return withServices('ops find-uncredited', (services) => findUncredited(services, days, since, order))
}

/** `since`: also payments that no row knows. */
export async function findUncredited(
  services: Services,
  days: number,
  since: Date | undefined,
  order: Order,
): Promise<Outcome> {
  const found =
    since === undefined ? { payments: [], unread: 0 } : await findUnrecorded(services, since, order)
  const totals: Totals = { gaps: [], credited: 0, tips: 0, unread: found.unread, unrecorded: found.payments }
  let position: TipPosition | undefined
  do {
    const page = await findCreditGaps(services, days, position)
    if (order.apply) totals.credited += await applyCredits(services, page, order)
    totals.gaps.push(...page.gaps)
    totals.tips += page.tips
    totals.unread += page.unread
    position = page.next
    process.stderr.write(`${totals.tips} tips read, ${totals.gaps.length} missing credits found\n`)
  } while (position !== undefined)
  return outcomeOf(totals, order)
}

interface Unrecorded {
  readonly payments: readonly LandedPayment[]
  /** Transactions and addresses that could not be read to their end. */
  readonly unread: number
}

/** The payments that no row knows. With --apply they are recorded. */
async function findUnrecorded(services: Services, since: Date, order: Order): Promise<Unrecorded> {
  const { payments, differences } = await compareChain(services, since, (wallets, unknown) =>
    process.stderr.write(`${wallets} custody wallets read, ${unknown} unknown transactions\n`),
  )
  const unread = differences.filter(({ kind }) => kind === 'unread').length
  if (!order.apply) return { payments, unread }
  await services.transact(async ({ trx, wake }) => {
    const recorded = new Set(await recordLanded(trx, payments, services.config.tips.claimWindowHours))
    for (const { signature, wallet, userId, token, received } of payments)
      if (recorded.has(signature))
        await order.audit(trx, 'find-uncredited record', `user:${userId}`, {
          signature,
          wallet,
          token: token.symbol,
          units: received,
        })
    wake('verifier')
  })
  return { payments, unread }
}

/**
 * Confirms the pending tips of a page, which credits them, and posts its other credits. Each step is one transaction with its
 * lines in the audit log. Returns the number of credits posted now.
 */
async function applyCredits(
  services: Services,
  { gaps, confirmations }: CreditGaps,
  order: Order,
): Promise<number> {
  const audit = async (trx: Transaction, credited: readonly CreditGap[]): Promise<number> => {
    for (const { key, signature, wallet, userId, micro, tip } of credited)
      await order.audit(trx, 'find-uncredited', `user:${userId}`, {
        key,
        signature,
        wallet,
        creditMicro: micro,
        tip,
      })
    return credited.length
  }
  let posted = 0
  await confirmTips(services, confirmations, async (trx, confirmed) => {
    const ids = new Set(confirmed.map(({ id }) => id))
    posted = await audit(
      trx,
      gaps.filter(({ signature }) => ids.has(signature)),
    )
  })
  const others = gaps.filter(({ tip, final }) => tip !== 'pending' && final)
  if (others.length === 0) return posted
  return posted + (await services.transact(async ({ trx }) => audit(trx, await creditMissing(trx, others))))
}

function outcomeOf({ gaps, credited, tips, unread, unrecorded }: Totals, order: Order): Outcome {
  const sum = gaps.reduce((total, { micro }) => total + micro, 0n)
  const found =
    gaps.length === 0
      ? `${tips} tips read: every custody wallet that was paid is credited`
      : `${tips} tips read: ${gaps.length} credits of ${usdcText(sum)} are missing`
  const done = order.apply ? `; ${credited} posted now` : `; ${applyHint}`
  const unreadText =
    unread === 0 ? [] : [`${unread} transactions could not be read: run the command again later`]
  return {
    ok: unread === 0,
    text: [
      ...unrecorded.map((one) => order.tell(paymentLine(one), 'recorded')),
      ...gaps.map(lineOf),
      `${found}${gaps.length === 0 ? '' : done}`,
      ...unreadText,
    ].join('\n'),
    json: {
      applied: order.apply,
      tips,
      unread,
      credited,
      unrecorded: unrecorded.map(({ token, received, signature, wallet, userId }) => ({
        signature,
        wallet,
        userId,
        token: token.symbol,
        units: received,
      })),
      gaps: gaps.map(({ micro, ...gap }) => ({ ...gap, creditMicro: micro })),
    },
  }
}

const notes: Record<CreditGap['tip'], string> = {
  confirmed: '',
  pending: '  not confirmed yet: --apply confirms it',
  none: '  arrived, no tip',
}

function lineOf({ signature, wallet, userId, micro, final, tip }: CreditGap): string {
  const state = final ? '' : '  not final yet: run the command again later'
  return `${usdcText(micro).padStart(19)}  ${wallet}  user ${userId}  tip ${signature}${notes[tip]}${state}`
}

function paymentLine({ token, received, wallet, userId, signature }: LandedPayment): string {
  const amount = `${displayText(received, token.decimals)} ${token.symbol}`
  return `${amount.padStart(19)}  ${wallet}  user ${userId}  payment ${signature}`
}

export const command = await defineCommand(import.meta, { usage, amounts: 'micro-USDC', options, run })
