import { ProviderError } from '../../../src/kernel/provider-error.js'
import { withClosing } from '../../kit/closing.js'
import { Draw } from '../../kit/draw.js'
import { countBy, type Report, sortedRows } from '../../kit/report.js'
import type { ServerUrls } from '../../kit/servers.js'
import type { Act, ActContext, ActResult } from './context.js'
import { acceptRate, ask, identity, look, operate, order, suspense } from './operators.js'
import { answerHold, pay, tip, withdraw } from './people.js'
import { type Broken, Promises } from './promises.js'
import { day, event, rate, refundEvent, send } from './provider.js'
import { nairaPerDollar, openStage } from './stage.js'

interface ActsPlan {
  readonly seed: number
  readonly steps: number
  /** Whether the provider refuses a used reference, and the service's settings say so. */
  readonly deduplicates: boolean
  readonly report: (text: string) => void
}

interface ActsResult extends Report {
  readonly executed: number
}

const firstCreators = 8
/** Verified creators stay verified, so new ones join. */
const stepsPerCreator = 200
/** All withdrawals, sources and books are checked so often; what a step touched, after each. */
const stepsPerWholeCheck = 50
const reportMs = 5000
const storyLength = 25

/** Each act, and how often it is chosen. */
const acts = {
  withdraw: [withdraw, 140],
  answerHold: [answerHold, 30],
  tip: [tip, 60],
  pay: [pay, 90],
  send: [send, 140],
  event: [event, 230],
  refundEvent: [refundEvent, 5],
  rate: [rate, 10],
  day: [day, 5],
  operate: [operate, 240],
  ask: [ask, 5],
  look: [look, 10],
  suspense: [suspense, 30],
  identity: [identity, 15],
  acceptRate: [acceptRate, 8],
} as const satisfies Record<string, readonly [Act, number]>
const weights = Object.fromEntries(
  Object.entries(acts).map(([name, [, weight]]) => [name, weight]),
) as Readonly<Record<keyof typeof acts, number>>

/** Random acts of creators, payers, operators and the provider, one after the other, until a promise is broken. */
export function runHumanActs(servers: ServerUrls, plan: ActsPlan): Promise<ActsResult> {
  return withClosing(async (defer) => {
    const { seed, steps, report, deduplicates } = plan
    const stage = await openStage(defer, servers, deduplicates)
    const context: ActContext = {
      stage,
      draw: new Draw(seed),
      made: { references: [], recredited: [], intents: [] },
      truth: { returned: new Map(), rates: new Set([nairaPerDollar]) },
    }
    const promises = new Promises(stage, context.draw, context.truth)
    const results: (ActResult & { readonly name: string })[] = []
    let broken: Broken | undefined
    const beat = setInterval(
      () => report(`${results.length} of ${steps} steps; ${context.made.references.length} withdrawals`),
      reportMs,
    )
    defer(() => clearInterval(beat))
    for (let creators = 0; creators < firstCreators; creators++) await stage.addCreator()
    while (results.length < steps && broken === undefined) {
      const step = results.length + 1
      if (step % stepsPerCreator === 0) await stage.addCreator()
      const one = await act(context)
      results.push(one)
      broken = await promises.check(one, step % stepsPerWholeCheck === 0)
    }
    broken ??= await endOf(context, promises)
    const story = results
      .map(({ text, about }, n) => ({ about, line: `step ${n + 1}: ${text}` }))
      .filter(({ about }) => broken?.about === undefined || about === broken.about)
      .slice(-storyLength)
      .map(({ line }) => line)
    const reviews: string[] = await stage.services.db('review_items').pluck('kind')
    const executed = stage.sandbox.fiatpay.transfers.all().length
    return {
      rows: [
        ...Object.entries(countBy(results.map(({ name }) => name))),
        ['withdrawals', context.made.references.length],
        ['executed', executed],
        ...sortedRows(countBy(reviews), 'reviews: '),
      ],
      faults: broken === undefined ? [] : [`BROKEN at step ${results.length}: ${broken.text}`, ...story],
      kept: 'every promise was kept',
      executed,
    }
  })
}

/** One act. A refusal and an error of the provider are ordinary ends of an act. */
async function act(context: ActContext): Promise<ActResult & { readonly name: string }> {
  const name = context.draw.kind(weights)
  try {
    return { ...(await acts[name][0](context)), name }
  } catch (error) {
    if (error instanceof ProviderError) return { name: 'refused', text: error.message }
    throw error
  }
}

/** All is compared once more, and an operator finds the books in order. */
async function endOf({ stage }: ActContext, promises: Promises): Promise<Broken | undefined> {
  const broken = await promises.check({ text: 'the end' }, true)
  if (broken !== undefined) return broken
  const { broken: fault } = await order(stage, ['check-books'], [0])
  return fault === undefined ? undefined : { text: fault }
}
