import { answerFaults } from '../compare-payouts.js'
import { checkEverything, type FinalCheck } from '../month/final-check.js'
import { compareWithProvider, makeReport, recordFees } from '../month/operator.js'
import { takeSample } from '../month/sample.js'
import { settle } from '../month/settle.js'
import type { Stage } from '../month/stage.js'
import type { Truth } from '../month/truth.js'

/** A difference counts when it is there three times: the clock may have read the float before the operator did. */
const readsMax = 3
/** A withdrawal was made. */
const accepted = [200, 502]

export interface Ending {
  readonly final: FinalCheck
  readonly faults: readonly string[]
}

/**
 * Waits until nothing is under way, and compares everything with chain, bank and what clients were answered: each tip landed once, each
 * payout was executed once, and each account of the ledger is what chain and bank have.
 */
export async function compareAll(stage: Stage, truth: Truth): Promise<Ending> {
  await settle(stage, truth)
  await recordFees(stage, truth, 0, 0)
  let books: readonly string[] = []
  for (let reads = 0; reads < readsMax; reads++) {
    await settle(stage, truth)
    books = (await takeSample(stage, truth, await makeReport(stage))).faults
    if (books.length === 0) break
  }
  const final = await checkEverything(stage, truth)
  await compareWithProvider(stage)
  const made = truth.withdrawals.filter(({ status }) => accepted.includes(status))
  const refused = Object.entries(truth.counts)
    .filter(([outcome]) => outcome.startsWith('repeat: REFUSED'))
    .map(([outcome, count]) => `${outcome} (${count} times)`)
  return {
    final,
    faults: [...books, ...final.faults, ...(await answerFaults(stage.db, made)), ...refused],
  }
}
