import type { Composed } from '../../../../src/compose.js'
import { pausePayouts, resumePayouts } from '../../../../src/outgoing/guards.js'
import { outgoingStatuses, sendStates } from '../../../../src/outgoing/lifecycle.js'
import { readSwitches } from '../../../../src/platform/database/switches/switches.js'
import { compareTransfers } from '../../../../src/withdrawals/reconcile/compare-statement.js'
import {
  defineOptions,
  finalOptions,
  noArguments,
  type Outcome,
  onlyArgument,
  parseVerb,
  type Values,
  wholeNumber,
} from '../command.js'
import { applyHint, type Order, RefusedError, UsageError } from '../order.js'
import { withServices } from '../services.js'
import { type ListedKind, type OperatorKind, presentList } from './kind.js'
import { payments } from './payments.js'
import { refunds } from './refunds.js'
import { withdrawals } from './withdrawals.js'

export const outgoingOptions = defineOptions(finalOptions, {
  '--state <state>':
    'for list: open (default), all, a status, a send state, breaker: waits for a limit or the pause, or\ndispute: waits for a dispute or a debt of its creator',
  '--older-than <minutes>': 'for list: only what is older than this',
  '--limit <n>': 'for list: at most this many of each kind; default 100',
  '--days <n>': 'for compare: how far back, 1 to 366; default 2',
  '--now': 'for recredit: do not wait 24 hours',
  '--paid <naira>': 'for resolve: what was really paid, such as 15840.00',
  '--creator <id>': "for adopt: the creator's id or e-mail",
  '--usdc <amount>': 'for adopt: what it cost, such as 12.50; default: by the exchange rate of then',
  '--confirm <id>': 'the id once more; for several: how many they are',
})
type Given = Values<typeof outgoingOptions>

const listStates: readonly string[] = [
  ...['open', 'all', 'breaker', 'dispute'],
  ...outgoingStatuses,
  ...sendStates,
]
const maxLimit = 1000
const maxMinutes = 1e7
const maxDays = 366

/** `alone`: the only kind, when the command has its older name. */
type Verb = (given: Given, order: Order, rest: readonly string[], alone?: ListedKind) => Promise<Outcome>

async function list(
  { state = 'open', 'older-than': minutes = '0', limit = '100' }: Given,
  _order: Order,
  rest: readonly string[],
  alone?: ListedKind,
): Promise<Outcome> {
  noArguments(rest)
  if (!listStates.includes(state)) throw new UsageError(`--state needs one of ${listStates.join(', ')}`)
  const filter = {
    state,
    olderThanSeconds: 60 * wholeNumber('--older-than', minutes, 0, maxMinutes),
    limit: wholeNumber('--limit', limit, 0, maxLimit),
  }
  return withServices('ops outgoing', async (services) => {
    if (alone !== undefined)
      return presentList(
        alone.plural,
        await alone.list(services, filter),
        `no ${alone.one} is ${state}`,
        true,
      )
    const lists = [withdrawals, refunds].map(async (kind) =>
      (await kind.list(services, filter)).map((row) => ({ ...row, json: { kind: kind.one, ...row.json } })),
    )
    const rows = (await Promise.all(lists)).flat()
    rows.sort((one, other) => one.createdAt.getTime() - other.createdAt.getTime())
    return presentList('outgoing', rows, `nothing is ${state}`)
  })
}

async function compare({ days = '2' }: Given, _order: Order, rest: readonly string[]): Promise<Outcome> {
  noArguments(rest)
  const hours = 24 * wholeNumber('--days', days, 1, maxDays)
  const differences = await withServices('ops outgoing', (services) => compareTransfers(services, hours))
  const lines = differences.map(
    ({ providerReference, kind, ours, theirs }) =>
      `${providerReference}  ${kind}: ours ${ours ?? 'none'}, the provider's ${theirs ?? 'none'}`,
  )
  const text = lines.join('\n') || "no difference between the provider's list and ours"
  return { ok: differences.length === 0, text, json: { differences } }
}

const kinds: readonly OperatorKind[] = [withdrawals, refunds, payments]

function kindOf(id: string): OperatorKind {
  return kinds.find((kind) => kind.isId(id)) ?? payments
}

async function show(
  _given: Given,
  _order: Order,
  rest: readonly string[],
  alone?: ListedKind,
): Promise<Outcome> {
  const id = onlyArgument(rest, 'id')
  return withServices('ops outgoing', (services) => (alone ?? kindOf(id)).show(services, id))
}

const pauses = {
  pause: {
    change: pausePayouts,
    done: 'payouts are paused: nothing new is sent',
    plan: 'would pause payouts',
  },
  resume: { change: resumePayouts, done: 'payouts run again', plan: 'would let payouts run again' },
} as const

/** Pauses payouts, or lets them run again. Throws RefusedError when they are so already. */
async function turn(to: keyof typeof pauses, services: Composed, order: Order): Promise<Outcome> {
  const { change, done, plan } = pauses[to]
  const changed =
    order.apply &&
    (await services.transact(async (uow) => {
      if (!(await change(uow, { by: order.by, reason: order.reason() }))) return false
      await order.audit(uow.trx, `payouts ${to}`, 'switch:payouts')
      return true
    }))
  const state = (await readSwitches(services.db)).find(({ name }) => name === 'payouts')
  const json = { applied: changed, pausedAt: state?.stoppedAt ?? null, by: state?.changedBy ?? null }
  const now =
    json.pausedAt === null
      ? 'payouts run'
      : `payouts are paused since ${json.pausedAt.toISOString()} by ${json.by}: ${state?.reason}`
  if (!changed && (json.pausedAt === null) === (to === 'resume'))
    throw new RefusedError(`not done: ${now}`, json)
  const filter = { state: 'breaker', olderThanSeconds: 0, limit: maxLimit }
  const waiting = (await withdrawals.list(services, filter)).length
  const count = `${waiting}${waiting === maxLimit ? ' or more' : ''} wait`
  const text = changed ? `${done}; ${count}` : `${now}; ${count}; ${plan}; ${applyHint}`
  return { text, json: { ...json, waiting } }
}

const turnTo =
  (to: keyof typeof pauses): Verb =>
  async (_given, order, rest) => {
    noArguments(rest)
    order.reason()
    return withServices('ops outgoing', (services) => turn(to, services, order))
  }

export const verbs = { list, show, compare, pause: turnTo('pause'), resume: turnTo('resume') } as const
export const verbNames = Object.keys(verbs) as (keyof typeof verbs)[]

/** Plans or does one thing with what has these ids. */
export function act<Action extends string>(
  kind: OperatorKind<Action>,
  action: Action,
  ids: readonly string[],
  given: Partial<Given>,
  order: Order,
): Promise<Outcome> {
  if (ids.length === 0) throw new UsageError(`give ${kind.ids}`)
  return withServices(kind.secrets, (services) => kind.act(services, action, [...new Set(ids)], order, given))
}

/** The command: the first argument is the verb. */
export async function outgoing(given: Given, order: Order, positionals: readonly string[]): Promise<Outcome> {
  const [first, ...rest] = positionals
  const verb = parseVerb(first, [...verbNames, 'act'])
  if (verb !== 'act') return verbs[verb](given, order, rest)
  const [action, ...ids] = rest
  const kind = kindOf(ids[0] ?? '')
  if (ids.length > 0) return act(kind, parseVerb(action, kind.actions), ids, given, order)
  parseVerb(action, [...new Set(kinds.flatMap(({ actions }) => actions))])
  throw new UsageError('give an id: of a withdrawal, of a refund, or of a payment in suspense')
}
