import { createHash, randomBytes } from 'node:crypto'
import { codeIn } from '../../../scripts/kit/client.js'
import { Order } from '../../../scripts/ops/support/order.js'
import { withdrawals } from '../../../scripts/ops/support/outgoing/withdrawals.js'
import type { Web } from '../../../scripts/simulate/compose.js'
import { noOrigin } from '../../../src/kernel/trace-context.js'
import { ExchangeRates } from '../../../src/market/exchange-rates.js'
import {
  cancelWithdrawal,
  confirmWithdrawal,
  resendCode,
} from '../../../src/withdrawals/confirmation/confirm.js'
import { refuseIdentity, verifyIdentity } from '../../../src/withdrawals/confirmation/release.js'
import { withdraw } from '../../../src/withdrawals/request/withdraw.js'
import type { OperatorAction } from '../../../src/withdrawals/review/check-action.js'
import { askIfOld } from '../../../src/withdrawals/withdrawal-kind.js'
import { reconcileNow } from '../../../src/withdrawals/work-queue.js'
import type { Outcome, State } from '../outgoing/state.js'
import type { TraceStep } from './draw.js'
import { type Product, stops, unit } from './product.js'

// How each act of the model of outgoing money is done by the product. Left out are a restore, which replaces the database under the
// processes, and what only follows one: looking up, adopting, accepting.

interface Playing {
  readonly product: Product
  readonly step: TraceStep<State>
  /** The acts that come after it. */
  readonly later: readonly TraceStep<State>[]
  /** What the text of the act says besides. */
  readonly said: string
}

type Play = (playing: Playing) => Promise<void>

const answers = (outcome: Outcome): Play => {
  return async ({ product, step }) => {
    product.outcome = outcome
    await product.goOn(senderOf(step), stops.answered)
  }
}
const dies: Play = ({ product, step }) => product.kill(senderOf(step))
const ends: Play = ({ product, step }) => product.goOn(senderOf(step))
const verifies: Play = async ({ product }) => {
  // An operator who releases it does the same.
  if (product.userId < '8') return operate(product, 'release')
  await decideIdentity(product, async ({ services }, asked) =>
    services.transact((uow) => verifyIdentity(uow, services.config, product.userId, asked)),
  )
}
/** What happens at the provider: the model's state is what the provider of the product has. */
const outside: Play = async () => undefined

/** By the beginning of an act's text. The longest that fits counts. */
export const plays = {
  'the creator asks for a withdrawal': ask,
  'the creator cancels': ({ product }) =>
    product.begin('web', ({ web }) => cancelWithdrawal(web.services, product)),
  'the identity is verified': verifies,
  'the identity is verified, and the creator is asked to confirm': verifies,
  'the identity is refused': ({ product }) =>
    decideIdentity(product, async ({ services }, asked) =>
      services.transact((uow) =>
        refuseIdentity(uow, services.config, product.userId, { reason: 'It could not be verified', asked }),
      ),
    ),
  'the creator confirms': ({ product }) => confirm(product),
  'it is released, and is worth too little': async (playing) => {
    const { product, step } = playing
    product.isRateLow = true
    await (step.from.database.row?.send === 'identity_hold' ? verifies(playing) : confirm(product))
    product.isRateLow = false
  },
  'a worker takes the row': async ({ product, step }) => {
    await product.makeDue('now')
    await product.begin(senderOf(step), ({ batch }) => batch(), stops.taken)
  },
  'the worker records that it is about to send': ({ product, step }) =>
    product.goOn(senderOf(step), goesOn(step) ? stops.recorded : undefined),
  'the provider refuses the payee before anything is sent': async ({ product, step }) => {
    product.refusesPayee = true
    await product.goOn(senderOf(step))
    product.refusesPayee = false
  },
  'the worker finds that it stood still, and does not send': ends,
  'the worker dies before it sends': dies,
  'the provider refuses the payee': answers('rejected'),
  'the provider refuses our account': answers('unavailable'),
  'the provider refuses a used reference': answers('ambiguous'),
  'the provider executes it': answers('accepted'),
  'the provider executes it, and the answer is lost': answers('ambiguous'),
  'the worker gives up waiting for the answer': answers('ambiguous'),
  'the worker dies before it records the answer': dies,
  'the worker records the answer': ends,
  'the reconciler asks the provider': async ({ product, step }) => {
    if (step.from.database.row?.send === 'sending') await product.makeDue('now')
    else await product.begin('web', ({ web }) => reconcileNow(web.services, product.reference.toLowerCase()))
    await product.begin('follower', ({ batch }) => batch(), stops.asked)
  },
  'the reconciler follows what the provider has shown': ({ product }) => product.goOn('follower'),
  'an operator: ': ({ product, said }) => {
    if (said.endsWith(fromBefore)) return product.goOn('command')
    return operate(product, said)
  },
  'a command asks the provider, and stands still': ({ product, later }) => {
    const end = later.find(({ text }) => text.endsWith(fromBefore))?.text
    const order = end?.slice('an operator: '.length, -fromBefore.length) ?? 'void'
    return product.begin('command', ({ web }) => command(product, web, order), stops.transaction)
  },
  'the command that stood still ends': ({ product }) => product.kill('command'),
  '15 minutes pass': ({ product }) => product.passTime(),
  'a request that nobody waits for is lost': outside,
  'a request that nobody waits for arrives': outside,
  'the transfer is': outside,
  'the provider shows the transfer': outside,
  'the transfer turns from': outside,
  'the provider has taken another amount': outside,
} satisfies Readonly<Record<string, Play>>

/** What anybody may try at any time. */
export const orders = [
  'the creator cancels',
  'a worker takes the row',
  ...['release', 'replay', 'void', 'recredit', 'resolve --paid', 'resolve --paid 0'].map(
    (action) => `an operator: ${action}`,
  ),
]

const fromBefore = ', by the answer from before'
export const playNames = Object.keys(plays) as (keyof typeof plays)[]
const longestFirst = playNames.toSorted((one, other) => other.length - one.length)

/** The entry above that does an act. Throws when there is none. */
export function playOf(text: string): keyof typeof plays {
  const name = longestFirst.find((begin) => text.startsWith(begin))
  if (name === undefined) throw new Error(`nothing in the product does "${text}"`)
  return name
}

/** The sender whose memory an act changes. */
function senderOf({ from, to }: TraceStep<State>): string {
  return `sender ${from.senders.findIndex((sender, index) => sender !== to.senders[index])}`
}

function goesOn({ from, to }: TraceStep<State>): boolean {
  return to.senders.some((sender, index) => sender !== null && sender !== from.senders[index])
}

/** Settings decide where a withdrawal waits. */
async function ask({ product, said, later }: Playing): Promise<void> {
  const confirms =
    said.includes('confirmation_hold') ||
    (said.includes('identity_hold') && later.some(({ text }) => text.endsWith('asked to confirm')))
  await product.begin('web', async ({ web: { services, tools } }) => {
    const { config } = services
    const terms = {
      ...config.withdrawals,
      confirmAccounts: confirms ? 'all' : 'off',
      identitySingleNgn: said.includes('identity_hold') ? 0 : 1e9,
    }
    const input = {
      bankCode: '058',
      accountNumber: String(Number.parseInt(product.userId.slice(0, 8), 16)).padStart(10, '0'),
      accountName: 'Ada Obi',
      amountUSDC: unit.dollars,
    }
    const requester = {
      userId: product.userId,
      network: '192.0.2.1',
      deviceHash: randomBytes(32),
      sessionHash: createHash('sha256').update(product.userId).digest(),
      sessionAge: 0,
      origin: noOrigin,
      keyedRequest: undefined,
    }
    const own = { ...services, config: Object.create(config, { withdrawals: { value: terms } }) }
    const answer = await withdraw(own, { ...tools, rates: new ExchangeRates(services) }, input, requester)
    product.reference = answer.reference
  })
}

async function confirm(product: Product): Promise<void> {
  await product.begin('web', ({ web }) => resendCode(web.services, product))
  const code = codeIn(await product.readMail('withdrawal-code')) ?? ''
  await product.begin('web', ({ web: { services } }) =>
    confirmWithdrawal(services, new ExchangeRates(services), product, { code }),
  )
}

/** As scripts/ops/accounts/verify-identity.ts. */
async function decideIdentity(
  product: Product,
  decide: (web: Web, asked: Awaited<ReturnType<typeof askIfOld>>) => Promise<unknown>,
): Promise<void> {
  const ids = await product.ids()
  await product.begin('web', async ({ web }) => {
    await new ExchangeRates(web.services).refresh()
    await decide(web, await askIfOld(web.services, ids))
  })
}

function operate(product: Product, order: string): Promise<void> {
  return product.begin('web', ({ web }) => command(product, web, order))
}

function command({ reference }: Product, { services }: Web, said: string): Promise<unknown> {
  const [action = '', , zero] = said.split(' ')
  const order = new Order({ apply: true, as: 'operator', reason: 'a trace', confirm: reference })
  const paidKobo = zero === '0' ? 0n : unit.otherKobo
  const paid = action === 'resolve' ? `${paidKobo / 100n}.00` : undefined
  const now = action === 'recredit' ? true : undefined
  return withdrawals.act(services, action as OperatorAction, [reference], order, { now, paid })
}
