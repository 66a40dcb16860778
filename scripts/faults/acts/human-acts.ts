import { ProviderError } from '../../../src/kernel/provider-error.js'
import { query } from '../../../src/platform/database/database.js'
import { withClosing } from '../../kit/closing.js'
import { Draw } from '../../kit/draw.js'
import type { Report } from '../../kit/report.js'
import type { ServerUrls } from '../../kit/servers.js'
import { type ActName, act } from './acts.js'
import { emptyTruth } from './arrived.js'
import type { ActContext, ActResult } from './context.js'
import { verifyAll } from './crypto.js'
import { order } from './operators.js'
import { type Broken, Promises } from './promises.js'
import { nairaPerDollar, openStage } from './stage.js'

export interface ActsPlan {
  readonly seed: number
  readonly steps: number
  /** Whether the provider refuses a used reference, and the service's settings say so. */
  readonly deduplicates: boolean
  /** One of so many operators' commands gets a process of its own, which takes about a second. */
  readonly perSpawned?: number
  readonly report: (text: string) => void
}

export interface ActsResult extends Report {
  readonly executed: number
}

const firstCreators = 8
/** Verified creators stay verified, so new ones join. */
const stepsPerCreator = 200
/** All withdrawals, sources and books are checked so often; what a step touched, after each. */
const stepsPerWholeCheck = 50
const reportMs = 5000
const usualPerSpawned = 50
const storyLength = 25

/** Random acts of creators, payers, operators and the provider, one after the other, until a promise is broken. */
export function runHumanActs(servers: ServerUrls, plan: ActsPlan): Promise<ActsResult> {
  return withClosing(async (defer) => {
    const { seed, steps, report, deduplicates, perSpawned = usualPerSpawned } = plan
    const stage = await openStage(defer, servers, { deduplicates, perSpawned })
    const made = { references: [], recredited: [], intents: [], signatures: [] }
    const truth = emptyTruth(nairaPerDollar)
    const context: ActContext = { stage, draw: new Draw(seed), made, truth }
    const promises = new Promises(stage, context.draw, truth)
    const results: (ActResult & { readonly step: number })[] = []
    const counts: Record<string, number> = {}
    let broken: Broken | undefined
    let reportedAt = Date.now()
    for (let creators = 0; creators < firstCreators; creators++) await stage.addCreator()
    let step = 0
    while (step < steps && broken === undefined) {
      step += 1
      if (step % stepsPerCreator === 0) await stage.addCreator()
      const one = await actOrRefusal(context)
      results.push({ ...one, step })
      counts[one.name] = (counts[one.name] ?? 0) + 1
      broken = await promises.check(one, step % stepsPerWholeCheck === 0)
      if (Date.now() - reportedAt > reportMs) {
        reportedAt = Date.now()
        report(`${step} of ${steps} steps; ${context.made.references.length} withdrawals`)
      }
    }
    broken ??= await endOf(context, promises)
    const isPartOf = ({ about }: ActResult) => broken?.about === undefined || about === broken.about
    const story = results
      .filter(isPartOf)
      .slice(-storyLength)
      .map((result) => `step ${result.step}: ${result.text}`)
    const kinds = await query<{ kind: string; count: number }>(stage.services.db, {
      name: 'acts.reviews',
      text: 'select kind, count(*)::int4 as count from review_items group by kind order by kind',
      values: [],
    })
    const executed = stage.sandbox.fiatpay.transfers.all().length
    return {
      rows: [
        ...Object.entries(counts),
        ['withdrawals', context.made.references.length],
        ['executed', executed],
        ...kinds.map(({ kind, count }) => [`reviews: ${kind}`, count] as const),
        ...Object.entries(stage.commands.counts),
      ],
      faults: broken === undefined ? [] : [`BROKEN at step ${step}: ${broken.text}`, ...story],
      kept: 'every promise was kept',
      executed,
    }
  })
}

/** At the end nothing is on its way any more: every custody wallet that was paid by a tip is credited, and the books hold. */
async function endOf(context: ActContext, promises: Promises): Promise<Broken | undefined> {
  await verifyAll(context.stage)
  const broken = await promises.check({ text: 'the end' }, true)
  if (broken !== undefined) return broken
  for (const name of ['find-uncredited', 'check-books']) {
    const end = await order(context, name, ['--json'], [0])
    if (end.broken !== undefined) return { text: end.broken }
    const { gaps = [] } = JSON.parse(end.end.out) as { gaps?: unknown[] }
    if (gaps.length > 0) return { text: `find-uncredited: ${end.end.out}` }
  }
  return undefined
}

/** An error of the provider is an ordinary end of an act. */
async function actOrRefusal(
  context: ActContext,
): Promise<ActResult & { readonly name: ActName | 'refused' }> {
  try {
    return await act(context)
  } catch (error) {
    if (error instanceof ProviderError) return { name: 'refused', text: error.message }
    throw error
  }
}
