import { createKeySigner } from '../../../src/kernel/signing-key.js'
import { loadReportSigningKey } from '../../../src/platform/config/own-settings.js'
import { createFloatReader } from '../../../src/reserves/float/read-float.js'
import { makeReport } from '../../../src/reserves/reports/make-report.js'
import { findLastReport, type StoredReport } from '../../../src/reserves/reports/report-rows.js'
import { defineCommand, defineOptions, type Outcome } from '../support/command.js'
import { withDatabase, withServices } from '../support/services.js'
import { createProgress } from '../support/text.js'

/** Shows the newest reserve report, or makes one now. */
const usage = `npm run ops -- reserves [--make] [--json]

Prints the newest signed report of what the platform owes and what it has, as GET /reserves answers it, and the wallets that lack
USDC on the chain, which are not public. Exit code 4: wallets lack USDC, or the platform lacks money at the last rate. With --json \`report\`
is the exact text that is signed.`

const options = defineOptions(
  {},
  {
    '--make':
      'make and publish a report now. Like the daily one it pauses payouts when wallets lack USDC on the chain',
  },
)

function outcomeOf(stored: StoredReport | undefined): Outcome {
  if (stored === undefined)
    return { text: 'no report was made yet; --make makes one', json: { report: null } }
  const { madeAt, report, signature, keyId, shortWallets } = stored
  const { custody, surplus } = JSON.parse(report)
  const lacks = surplus.NGN?.startsWith('-') === true
  const short = shortWallets.map(
    ({ wallet, book, chain }) => `short: ${wallet} holds ${chain} of ${book} micro-USDC`,
  )
  const sentences = [
    ...(custody.shortWallets > 0
      ? [`${custody.shortWallets} CUSTODY WALLETS LACK ${custody.USDC.short} USDC`]
      : []),
    ...(lacks
      ? [
          `AT THE RATE USED WE LACK NGN ${surplus.NGN.slice(1)}. Our fees have not paid the provider's yet, something is not recorded, or the`,
          'rate moved: npm run ops -- treasury. Add money at the provider, then: npm run ops -- treasury record-equity --ngn <amount> --evidence <text>',
        ]
      : []),
  ]
  return {
    ok: sentences.length === 0,
    text: [
      JSON.stringify(JSON.parse(report), null, 2),
      `made ${madeAt.toISOString()}, signature ${signature}, key ${keyId}`,
      ...short,
      ...sentences,
    ].join('\n'),
    json: { madeAt, report, signature, keyId, shortWallets },
  }
}

export const command = await defineCommand(import.meta, {
  usage,
  options,
  run: ({ make }) =>
    make === true
      ? withServices(
          'ops reserves',
          async (services) => {
            const signer = createKeySigner(loadReportSigningKey())
            const readFloat = createFloatReader(services)
            const say = createProgress()
            const onProgress = (wallets: number) => say(`${wallets} custody wallets read`)
            return outcomeOf(await makeReport(services, { signer, readFloat, daily: false, onProgress }))
          },
          [loadReportSigningKey],
        )
      : withDatabase(async (db) => outcomeOf(await findLastReport(db))),
})
