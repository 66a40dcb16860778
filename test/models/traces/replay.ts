import { isDeepStrictEqual } from 'node:util'
import { fund } from '../../../scripts/kit/client.js'
import { withClosing } from '../../../scripts/kit/closing.js'
import { Chance } from '../../../scripts/simulate/chance.js'
import type { Databases } from '../../../scripts/simulate/database.js'
import { openStage } from '../../../scripts/simulate/stage.js'
import { seededRandom } from '../../helpers/random.js'
import type { Model } from '../checker.js'
import { countingModel } from '../outgoing/model.js'
import { alone, normalize, type Sender, type Setting, type State } from '../outgoing/state.js'
import { drawTrace, type Met, type TraceStep, tellTrace } from './draw.js'
import { orders, playOf, plays } from './plays.js'
import { Product, stops, traceSettings, unit } from './product.js'

/** Nothing goes wrong by chance: what goes wrong is an act. */
const odds = { crash: 0, freeze: 0, lostCommit: 0, answerMs: { least: 2, most: 2 } }

/** Acts of one trace. */
const longest = 30

/** All at once: nobody waits for a draw of all orders here. Without restores, which replace the database under the processes. */
export const everything: Setting = { ...alone, senders: 2, oddities: 2, slowOperator: true }

export interface Replay {
  readonly steps: number
  /** Where product and model differ first, with the acts that lead there. */
  readonly difference: string | undefined
}

export interface TracePlan {
  readonly seed: number
  readonly traces: number
  readonly setting: Setting
  readonly met: Met
}

/** Draws traces of the model of outgoing money, has the product do each act, and compares the two after it. */
export function replayTraces(
  databases: Databases,
  { seed, traces, setting, met }: TracePlan,
): Promise<Replay> {
  return withClosing(async (defer) => {
    const { deduplicates } = setting
    const settings = { ...traceSettings, FIATPAY_DEDUPLICATES: String(deduplicates) }
    const chance = new Chance(seed)
    const stage = await openStage(databases, { seed, chance, odds, settings, creators: traces }, defer)
    const model = countingModel(setting)
    const product = new Product(stage, model.start, deduplicates)
    const random = seededRandom(seed)
    let steps = 0
    for (const userId of stage.creators) {
      await fund(stage.db, userId, unit.micro)
      const trace = drawTrace(model, longest, random, keyOf, met)
      const place = await replayOne(product, userId, model, trace, random)
      steps += place === undefined ? trace.length : place.at + 1
      if (place !== undefined)
        return { steps, difference: `${tellTrace(trace.slice(0, place.at + 1))}\n${place.text}` }
    }
    return { steps, difference: undefined }
  })
}

const keyOf = (state: State): string => JSON.stringify(normalize(state))

async function replayOne(
  product: Product,
  userId: string,
  model: Model<State>,
  trace: readonly TraceStep<State>[],
  random: () => number,
): Promise<{ readonly at: number; readonly text: string } | undefined> {
  product.begins(userId)
  const begun: Begun = new Map()
  for (const [at, step] of trace.entries()) {
    await play(product, step, trace.slice(at + 1))
    const rule = model.broken(step.to)
    const text = rule === undefined ? await differs(product, step, begun) : `the model breaks: ${rule}`
    if (text !== undefined) return { at, text: [text, ...product.notes].join('\n') }
    const order = pressed(model, step.to, random)
    if (order === undefined) continue
    const idle = { text: order, from: step.to, to: step.to }
    await play(product, idle, [])
    const change = await differs(product, idle, begun)
    if (change !== undefined) return { at, text: `then this must change nothing: ${order}\n${change}` }
  }
  await product.end()
  return undefined
}

function play(product: Product, step: TraceStep<State>, later: readonly TraceStep<State>[]): Promise<void> {
  product.state = step.from
  const name = playOf(step.text)
  return plays[name]({ product, step, later, said: step.text.slice(name.length) })
}

/** Now and then somebody tries what cannot happen in a state. */
function pressed(model: Model<State>, state: State, random: () => number): string | undefined {
  // While every worker is busy the model lets none take the row, as if there were no other.
  if (state.database.row === null || !state.senders.includes(null) || random() > 0.3) return undefined
  const possible = model.acts(state)
  const refused = orders.filter(
    (order) => !possible.some(({ text }) => text === order || text.startsWith(`${order} (`)),
  )
  return refused[Math.floor(random() * refused.length)]
}

const requestOf = (sender: Sender | null): number =>
  sender === null || sender.at === 'taken' ? 0 : sender.request

/** When the last request of each sender began, as the row says. */
type Begun = Map<number, string | null>

/** How the product differs from the model after an act. Undefined: it does not. */
async function differs(
  product: Product,
  { from, to }: TraceStep<State>,
  begun: Begun,
): Promise<string | undefined> {
  const { row, ...books } = await product.read()
  const { row: wanted, ...wantedBooks } = to.database
  const { request = 0, ...wantedRow } = wanted ?? {}
  const { sentAt = null, ...foundRow } = row ?? {}
  for (const [index, sender] of to.senders.entries())
    if (requestOf(sender) > 0 && requestOf(from.senders[index] ?? null) === 0) begun.set(index, sentAt)
  const isLast = (sender: Sender | null): boolean => requestOf(sender) > 0 && requestOf(sender) === request
  const compared = {
    'the books': [books, wantedBooks],
    'the row': [
      row && { ...foundRow, reviews: [...row.reviews].sort() },
      wanted && { ...wantedRow, settled: request > 0 && wanted.settled },
    ],
    'whether a request may have reached the provider': [sentAt !== null, request > 0],
    'whose request is the last': [
      to.senders.map(
        (sender, index) => requestOf(sender) > 0 && sentAt !== null && begun.get(index) === sentAt,
      ),
      to.senders.map(isLast),
    ],
    'where the processes are': [undefined, misplaced(product, to)],
  }
  for (const [what, [have, want]] of Object.entries(compared))
    if (!isDeepStrictEqual(have, want))
      return `${what}\n  product ${JSON.stringify(have)}\n  model   ${JSON.stringify(want)}`
  return undefined
}

/** A process that does not stand where the model has it. Undefined: there is none. */
function misplaced(product: Product, { senders, follower, command }: State): string | undefined {
  const places: readonly (readonly [string, RegExp | undefined])[] = [
    ...senders.map((sender, index) => [`sender ${index}`, stopOf(sender)] as const),
    ['follower', follower === null ? undefined : stops.asked],
    ['command', command === null ? undefined : stops.transaction],
  ]
  for (const [name, stop] of places) {
    const waiting = product.waitingOf(name)
    const isThere = stop === undefined ? waiting === undefined : waiting !== undefined && stop.test(waiting)
    if (!isThere) return `${name} waits for ${waiting ?? 'nothing'}, and not for ${stop?.source ?? 'nothing'}`
  }
  return undefined
}

function stopOf(sender: Sender | null): RegExp | undefined {
  return sender === null ? undefined : stops[sender.at]
}
