import { ProviderError } from '../../../src/kernel/provider-error.js'
import { query } from '../../../src/platform/database/database.js'
import { RefusedError } from '../../ops/support/command.js'
import { type ActName, type ActResult, act, type Made } from './acts.js'
import { Draw } from './draw.js'
import { type Broken, Promises } from './promises.js'
import { openStage, type ServerAddresses } from './stage.js'

export interface ActsPlan {
  readonly seed: number
  readonly steps: number
  readonly report: (text: string) => void
}

export interface ActsResult {
  /** The first broken promise and the acts on that withdrawal. Undefined: all were kept. */
  readonly broken: (Broken & { readonly story: readonly string[] }) | undefined
  readonly acts: Readonly<Record<string, number>>
  readonly withdrawals: number
  readonly executed: number
  readonly reviews: Readonly<Record<string, number>>
}

const firstCreators = 8
/** Verified creators stay verified, so new ones join. */
const stepsPerCreator = 200
const stepsPerCheck = 5
const reportMs = 5000
const storyLength = 25

/** Random acts of creators, payers, operators and the provider, one after the other, until a promise is broken. */
export async function runHumanActs(
  servers: ServerAddresses,
  { seed, steps, report }: ActsPlan,
): Promise<ActsResult> {
  const stage = await openStage(servers)
  try {
    const made: Made = { references: [], intents: [] }
    const context = { stage, draw: new Draw(seed), made }
    const promises = new Promises(stage)
    const results: (ActResult & { readonly step: number })[] = []
    const counts: Record<string, number> = {}
    let broken: Broken | undefined
    let reportedAt = Date.now()
    stage.fiat.fiatpay.faults.setMode({ transfers: 'manual' })
    for (let creators = 0; creators < firstCreators; creators++) await stage.addCreator()
    for (let step = 1; step <= steps && broken === undefined; step++) {
      if (step % stepsPerCreator === 0) await stage.addCreator()
      const one = await actOrRefusal(context)
      results.push({ ...one, step })
      counts[one.name] = (counts[one.name] ?? 0) + 1
      const last = step === steps
      if (last || step % stepsPerCheck === 0) [broken] = await promises.check(last)
      if (Date.now() - reportedAt > reportMs) {
        reportedAt = Date.now()
        report(`${step} of ${steps} steps; ${made.references.length} withdrawals`)
      }
    }
    const isPartOf = ({ about }: ActResult) => broken?.about === undefined || about === broken.about
    const story = results
      .filter(isPartOf)
      .slice(-storyLength)
      .map(({ step, text }) => `step ${step}: ${text}`)
    const kinds = await query<{ kind: string; count: number }>(stage.services.db, {
      name: 'acts.reviews',
      text: 'select kind, count(*)::int4 as count from review_items group by kind order by kind',
      values: [],
    })
    return {
      broken: broken && { ...broken, story },
      acts: counts,
      withdrawals: made.references.length,
      executed: stage.fiat.fiatpay.transfers.all().length,
      reviews: Object.fromEntries(kinds.map(({ kind, count }) => [kind, count])),
    }
  } finally {
    await stage.close()
  }
}

/** The wrong command at the wrong time is refused, and the provider may not answer. Both are ordinary. */
async function actOrRefusal(
  context: Parameters<typeof act>[0],
): Promise<ActResult & { readonly name: ActName | 'refused' }> {
  try {
    return await act(context)
  } catch (error) {
    if (error instanceof RefusedError || error instanceof ProviderError)
      return { name: 'refused', text: error.message }
    throw error
  }
}
