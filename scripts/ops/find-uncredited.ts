import { displayText } from '../../src/kernel/money.js'
import {
  type CreditGap,
  creditGaps,
  findCreditGaps,
  maxDays,
  type TipPosition,
} from '../../src/tips/confirm/find-uncredited.js'
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
} from './support/command.js'
import { recordAudit } from './support/record-audit.js'
import { withServices } from './support/with-services.js'

/** Finds creators who were paid by the transaction of a confirmed tip and not credited, and credits them. */
const help = `npm run ops -- find-uncredited [--days <n>] [--apply]

Reads the confirmed crypto tips of the last days and their transactions from the chain, and lists every custody wallet that
received USDC without a credit in the ledger. Without --apply this changes nothing. Only tips that are final are credited;
run it again for the others. The same credit is never posted twice. Progress is printed to standard error.

  --days <n>    how far back, 1 to ${maxDays}; default 30
  --apply       post the missing credits
  --as <name>   your name for the audit log; default: the user of the operating system
  --json        print one line of JSON; amounts are micro-USDC as decimal text
  --help        print this text

${exitHelp}`

const options = { ...applyOptions, days: { type: 'string' } } as const
const defaultDays = 30

type Given = Values<typeof options>
type Services = Parameters<Parameters<typeof withServices>[0]>[0]

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
  return withServices(async (services) => {
    const totals: Totals = { gaps: [], credited: 0, tips: 0, unread: 0 }
    let position: TipPosition | undefined
    do {
      const page = await findCreditGaps(services, days, position)
      if (values.apply === true) totals.credited += await applyCredits(services, page.gaps, actorOf(values))
      totals.gaps.push(...page.gaps)
      totals.tips += page.tips
      totals.unread += page.unread
      position = page.next
      process.stderr.write(`${totals.tips} tips read, ${totals.gaps.length} missing credits found\n`)
    } while (position !== undefined)
    return outcomeOf(totals, values.apply === true)
  })
}

/** One transaction for the credits of a page and their lines in the audit log. Returns the number of credits posted now. */
async function applyCredits(services: Services, gaps: readonly CreditGap[], actor: string): Promise<number> {
  if (gaps.length === 0) return 0
  return services.transact(async ({ trx }) => {
    const posted = await creditGaps(trx, gaps)
    for (const { key, signature, wallet, userId, micro } of posted)
      await recordAudit(trx, {
        actor,
        action: 'find-uncredited',
        subject: `user:${userId}`,
        details: { key, signature, wallet, creditMicro: String(micro) },
      })
    return posted.length
  })
}

function outcomeOf({ gaps, credited, tips, unread }: Totals, applied: boolean): Outcome {
  const sum = gaps.reduce((total, { micro }) => total + micro, 0n)
  const found =
    gaps.length === 0
      ? `${tips} tips read: every custody wallet that was paid is credited`
      : `${tips} tips read: ${gaps.length} credits of ${displayText(sum, 6)} USDC are missing`
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

function lineOf({ signature, wallet, userId, micro, final }: CreditGap): string {
  const state = final ? '' : '  not final yet: run the command again later'
  return `${displayText(micro, 6).padStart(14)} USDC  ${wallet}  user ${userId}  tip ${signature}${state}`
}

export const command = defineCommand({ help, options, run })
await runAsProgram(import.meta, command)
