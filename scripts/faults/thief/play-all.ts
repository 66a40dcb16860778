import { sqlList } from '../../../src/kernel/state-machine.js'
import { heldStates, openStatuses } from '../../../src/outgoing/lifecycle.js'
import { waitUntil } from '../../dev/wait-until.js'
import { withClosing } from '../../kit/closing.js'
import { countBy, type Report, sortedRows } from '../../kit/report.js'
import type { ServerUrls } from '../../kit/servers.js'
import { bookFaults } from '../world/compare-books.js'
import { compareTransfers } from '../world/compare-payouts.js'
import { openStage } from './stage.js'
import { Story } from './story.js'

interface ThiefPlan {
  readonly seed: number
  /** The first story, and how many. One alone repeats what it did in a longer run. */
  readonly first: number
  readonly count: number
  readonly webs: number
  readonly report: (text: string) => void
}

/** Stories of different accounts run at the same time. */
const atOnce = 6
const endMs = 120_000
const reportMs = 5000
/** A run as long as this must have seen every act that is named. */
const longRun = 1000
/** What must have happened in a run of any length, so that a run in which nothing happens does not pass. */
const always = [
  'owner login: done',
  'owner readMail: ',
  'owner withdrawToOwn: sent',
  'owner recover: done',
  'thief login: done',
  'thief withdrawToOwn: held for confirmation',
]
const doneInLongRuns = {
  owner:
    'logInByCode confirm changePassword resetPassword changeEmail confirmEmail addTotp removeTotp endOneSession endOtherSessions cancel removePayees notMe',
  thief: 'changePassword changeEmail confirmEmail addTotp makeApiKey cancel endOtherSessions',
}
/** And what else in a long one. */
const inLongRuns = [
  'thief confirm: 400 invalid_code',
  'thief withdrawToOwn: 403 account_frozen',
  ...Object.entries(doneInLongRuns).flatMap(([who, acts]) =>
    acts.split(' ').map((act) => `${who} ${act}: done`),
  ),
]

/** Plays the stories, then compares all money with the payout stand-in and the ledger. Begins none after the first faults. */
export function playThieves(servers: ServerUrls, plan: ThiefPlan): Promise<Report> {
  return withClosing(async (defer) => {
    const { seed, first, count, webs, report } = plan
    const stage = await openStage(defer, servers, seed, webs)
    const { db, sandbox } = stage
    const played: Story[] = []
    let next = first
    const playNext = async (): Promise<void> => {
      while (next < first + count && played.every(({ faults }) => faults.length === 0)) {
        const story = new Story(stage, seed, next++)
        await story.play()
        played.push(story)
      }
    }
    const beat = setInterval(() => report(`${played.length} of ${count} stories`), reportMs)
    defer(() => clearInterval(beat))
    await Promise.all(Array.from({ length: atOnce }, playNext))
    const onTheirWay = () =>
      db('withdrawals')
        .whereRaw(`status in (${sqlList(openStatuses)}) and send_state not in (${sqlList(heldStates)})`)
        .first('id')
    // What does not end until then is found by the comparison.
    await waitUntil(async () => (await onTheirWay()) === undefined, endMs)
    const { transfers } = sandbox.fiatpay.log()
    const paidAccounts = transfers.map(({ accountNumber }) => accountNumber)
    const money = await compareTransfers(db, transfers)
    const outcomes = countBy(played.flatMap(({ lines }) => lines))
    const wanted = count === 1 ? [] : [...always, ...(count >= longRun ? inLongRuns : [])]
    return {
      rows: [
        ...sortedRows(outcomes),
        ...sortedRows(countBy(played.map(({ knowledge }) => knowledge)), 'the thief began with: '),
        ['withdrawals', money.withdrawals],
        ['payouts', transfers.length],
      ],
      faults: [
        ...played.flatMap((story) => faultsOf(story, paidAccounts)),
        ...money.faults,
        ...(await bookFaults(db)),
        ...wanted
          .filter((outcome) => !Object.keys(outcomes).some((came) => came.startsWith(outcome)))
          .map((outcome) => `nothing was proven: never "${outcome}"`),
      ],
      kept: 'no money went to the thief, and every owner has the account',
    }
  })
}

/** The story of an account whose promises were broken. */
function faultsOf(story: Story, paidAccounts: readonly string[]): string[] {
  const { index, knowledge, lines, thiefsAccount } = story
  const isStolen = paidAccounts.includes(thiefsAccount.accountNumber)
  const faults = [...story.faults, ...(isStolen ? ['MONEY WENT TO THE THIEF'] : [])]
  if (faults.length === 0) return []
  return [
    `story ${index} (the thief has: ${knowledge})\n  ${lines.join('\n  ')}`,
    ...faults.map((fault) => `story ${index}: ${fault}`),
  ]
}
