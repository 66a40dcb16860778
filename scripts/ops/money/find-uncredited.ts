import { usdcText } from '../../../src/kernel/money.js'
import { confirmTips } from '../../../src/tips/confirm/confirm-tips.js'
import { creditMissing } from '../../../src/tips/confirm/credit-missing.js'
import {
  type CreditGap,
  type CreditGaps,
  findCreditGaps,
  maxDays,
  type TipPosition,
} from '../../../src/tips/confirm/find-uncredited.js'
import {
  actorOf,
  applyHint,
  applyOptions,
  defineCommand,
  exitHelp,
  type Outcome,
  runAsProgram,
  UsageError,
  type Values,
} from '../support/command.js'
import { recordAudit } from '../support/record-audit.js'
import { withServices } from '../support/with-services.js'

/** Finds creators who were paid by the transaction of a recorded signature and not credited, and credits them. */
const help = `npm run ops -- find-uncredited [--days <n>] [--apply]

Reads the crypto tips of the last days and their transactions from the chain, and lists every custody wallet that received
USDC without a credit in the ledger. It also reads recorded signatures that the service did not confirm: one that is a tip
after all is confirmed, and money that arrived without a tip ("arrived, no tip") is credited alone. Without --apply this
changes nothing. Only final transactions are credited; run it again for the others. The same credit is never posted twice.
Signatures that the verifier still checks are left to it. Progress is printed to standard error.

  --days <n>    how far back, 1 to ${maxDays}; default 30
  --apply       post the missing credits
  --as <name>   your name for the audit log; default: the user of the operating system
  --json        print one line of JSON; amounts are micro-USDC as decimal text
  --help        print this text

${exitHelp}`

const options = { ...applyOptions, days: { type: 'string' } } as const
const defaultDays = 30

type Given = Values<typeof options>
type Transaction = Parameters<typeof recordAudit>[0]
type Services = Parameters<Parameters<typeof withServices>[1]>[0]

interface Totals {
  readonly gaps: CreditGap[]
  credited: number
  tips: number
  unread: number
}

function parseDays(text = String(defaultDays)): number {
  const days = Number(text)
  if (Number.isInteger(days) && days >= 1 && days <= maxDays) return days
  throw new UsageError(`--days needs a whole number from 1 to ${maxDays}`)
}

async function run(values: Given): Promise<Outcome> {
  const days = parseDays(values.days)
  return withServices('ops find-uncredited', async (services) => {
    const totals: Totals = { gaps: [], credited: 0, tips: 0, unread: 0 }
    let position: TipPosition | undefined
    do {
      const page = await findCreditGaps(services, days, position)
      if (values.apply === true) totals.credited += await applyCredits(services, page, actorOf(values))
      totals.gaps.push(...page.gaps)
      totals.tips += page.tips
      totals.unread += page.unread
      position = page.next
      process.stderr.write(`${totals.tips} tips read, ${totals.gaps.length} missing credits found\n`)
    } while (position !== undefined)
    return outcomeOf(totals, values.apply === true)
  })
}

/**
 * Confirms the pending tips of a page, which credits them, and posts its other credits. Each step is one transaction with its
 * lines in the audit log. Returns the number of credits posted now.
 */
async function applyCredits(
  services: Services,
  { gaps, confirmations }: CreditGaps,
  actor: string,
): Promise<number> {
  const audit = async (trx: Transaction, credited: readonly CreditGap[]): Promise<number> => {
    for (const { key, signature, wallet, userId, micro, tip } of credited)
      await recordAudit(trx, {
        actor,
        action: 'find-uncredited',
        subject: `user:${userId}`,
        details: { key, signature, wallet, creditMicro: String(micro), tip },
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

function outcomeOf({ gaps, credited, tips, unread }: Totals, applied: boolean): Outcome {
  const sum = gaps.reduce((total, { micro }) => total + micro, 0n)
  const found =
    gaps.length === 0
      ? `${tips} tips read: every custody wallet that was paid is credited`
      : `${tips} tips read: ${gaps.length} credits of ${usdcText(sum)} are missing`
  const done = applied ? `; ${credited} posted now` : `; ${applyHint}`
  const unreadText =
    unread === 0 ? [] : [`${unread} transactions could not be read: run the command again later`]
  return {
    ok: unread === 0,
    text: [...gaps.map(lineOf), `${found}${gaps.length === 0 ? '' : done}`, ...unreadText].join('\n'),
    json: {
      applied,
      tips,
      unread,
      credited,
      gaps: gaps.map(({ micro, ...gap }) => ({ ...gap, creditMicro: String(micro) })),
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

export const command = defineCommand({ help, options, run })
await runAsProgram(import.meta, command)
