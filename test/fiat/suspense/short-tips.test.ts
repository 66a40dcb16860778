import test from 'ava'
import { statusUrl } from '../../../src/kernel/status-link.js'
import { checkBooks } from '../../../src/ledger/invariants.js'
import { differingSums } from '../../helpers/make/confirmed-tips.js'
import { registerCreator, type TestCreator } from '../../helpers/make/creators.js'
import { readAvailableUsdc, readFiatStatus, readPlatformBalance } from '../../helpers/make/fiat/fiat-tips.js'
import {
  endRefundAtProvider,
  paidTip,
  refundsAtProvider,
  workOnRefunds,
} from '../../helpers/make/fiat/refunds.js'
import { unusedSignature } from '../../helpers/make/supporter.js'
import { listTips } from '../../helpers/make/tips.js'
import { runOpsScript } from '../../helpers/run-ops-script.js'
import { setRows, useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { fiat: true, env: { PAYOUT_SECONDS: '15,3,900', RATE_LIMIT_FACTOR: '100' } })

test.beforeEach('the provider has no faults', () => world().fiat.fiatpay.faults.reset())
test.afterEach.always('the books hold, and suspense is what waits', async (t) => {
  t.true((await checkBooks(world().db)).holds)
  t.deepEqual(await differingSums(world().db), [])
  const waiting = await world().db('suspense_items').whereNull('resolved_at').sum('kobo as kobo').first()
  t.is(BigInt(waiting?.['kobo'] ?? 0), await readPlatformBalance(world(), 'suspense', 'NGN'))
})

interface Tip {
  readonly signature: string
  readonly status: string
  readonly receivedAmount: number | null
  readonly arrivedNgn?: number
  readonly shortNgn?: number
  readonly arrivedState?: string
}
type Decided = {
  readonly decision?: string
  readonly amountNGN?: number
  readonly code?: string
  readonly error?: string
}

async function own({ session }: TestCreator, query = ''): Promise<readonly Tip[]> {
  return (await world().request<{ tips: Tip[] }>('GET', `/creators/tips${query}`, { session })).body.tips
}
const decide = ({ session }: Pick<TestCreator, 'session'>, tip: string, how: 'accept-short' | 'give-back') =>
  world().request<Decided>('POST', `/creators/tips/${tip}/${how}`, { session })

/** A tip of 15,200 naira for which 5,000 arrive. */
async function shortTip(payerEmail?: string): Promise<{ creator: TestCreator; tip: string }> {
  const creator = await registerCreator(world())
  return {
    creator,
    tip: await paidTip(world(), creator, { kobo: 500_000, ...(payerEmail && { payerEmail }) }),
  }
}

/** Whoever has the link of a payment presses a button of its page. */
async function press(tip: string, button: 'accept' | 'give-back', key?: Uint8Array): Promise<Response> {
  const [row] = await world()
    .db.raw('select key from status_link_key')
    .then(({ rows }) => rows)
  const { pathname } = new URL(statusUrl(world().url, key ?? row.key, tip))
  return fetch(`${world().url}${pathname}/${button}`, { method: 'POST', redirect: 'manual' })
}

test.serial('its payer decides on the page of the payment, once, and nobody else does', async (t) => {
  const taken = await shortTip()
  t.is((await press(taken.tip, 'accept', new Uint8Array(32))).status, 404, 'a link that was made up')
  t.is((await press(taken.tip, 'accept')).status, 303)
  t.is((await press(taken.tip, 'give-back')).status, 303, 'the page says that it is decided')
  t.is((await decide(taken.creator, taken.tip, 'give-back')).body.code, 'short_decided')
  t.is(await readAvailableUsdc(world(), taken.creator), 3.125)

  const returned = await shortTip()
  t.is((await press(returned.tip, 'give-back')).status, 303)
  await workOnRefunds(world())
  t.is(refundsAtProvider(world(), returned.tip).length, 1)
  t.is((await press(returned.tip, 'accept')).status, 303)
  t.is((await press(returned.tip, 'give-back')).status, 303)
  await workOnRefunds(world())
  t.is(refundsAtProvider(world(), returned.tip).length, 1, 'sent once')
  t.is(await readAvailableUsdc(world(), returned.creator), 0)

  const raced = await shortTip()
  const answers = await Promise.all(
    Array.from({ length: 100 }, (_, index) => press(raced.tip, index % 2 ? 'accept' : 'give-back')),
  )
  // A crowd may be told to come again.
  t.true(answers.every(({ status }) => [303, 503].includes(status)))
  const decided = await world()
    .db('suspense_items as s')
    .join('fiat_payments as p', 'p.provider_transaction', 's.provider_transaction')
    .where({ intent_id: raced.tip })
  t.is(decided.length, 1)

  const frozen = await shortTip()
  await setRows(
    world(),
    'users',
    { id: frozen.creator.user.id },
    { frozen_at: new Date(), frozen_reason: 'test' },
  )
  t.is((await press(frozen.tip, 'accept')).status, 409)
  t.is((await press(await paidTip(world(), await registerCreator(world())), 'give-back')).status, 303)
})

test.serial('a creator sees what arrived, finds it by its reference and takes it, once', async (t) => {
  const { creator, tip } = await shortTip('bola@example.com')
  const short = {
    signature: tip,
    status: 'failed',
    arrivedNgn: 5000,
    shortNgn: 10_200,
    arrivedState: 'waiting',
  }
  t.like((await own(creator))[0], short)
  t.like((await own(creator, `?q=${tip.slice(0, 20).toUpperCase()}`))[0], short)
  t.false('arrivedNgn' in ((await listTips(world(), creator.wallet))[0] ?? {}), 'nobody else sees it')

  const taken = await decide(creator, tip, 'accept-short')
  t.like(taken, { status: 200, body: { decision: 'accepted', amountNGN: 5000 } })
  t.is(await readAvailableUsdc(world(), creator), 3.125)
  t.is(await readFiatStatus(world(), tip), 'completed')
  const [listed] = await own(creator)
  t.like(listed, { status: 'confirmed', receivedAmount: 3.125 })
  t.is(listed?.arrivedState, undefined)
  const mails = world().db('emails').whereIn('kind', ['short-payment', 'receipt']).orderBy('created_at')
  t.deepEqual(await mails.pluck('kind'), ['short-payment', 'receipt'])

  for (const how of ['accept-short', 'give-back'] as const)
    t.like(await decide(creator, tip, how), {
      status: 409,
      body: { code: 'short_decided', error: 'Nothing of this tip waits for a decision' },
    })
  t.is(await readAvailableUsdc(world(), creator), 3.125)
})

test.serial('a creator gives it back, as the provider says', async (t) => {
  const { creator, tip } = await shortTip()
  world().fiat.fiatpay.faults.setMode({ refunds: 'manual' })
  t.like(await decide(creator, tip, 'give-back'), {
    status: 200,
    body: { decision: 'going_back', amountNGN: 5000 },
  })
  t.like((await own(creator))[0], { status: 'failed', arrivedNgn: 5000, arrivedState: 'going_back' })
  t.is((await decide(creator, tip, 'accept-short')).status, 409)
  await workOnRefunds(world())
  t.like(refundsAtProvider(world(), tip), [{ amountKobo: 500_000 }])
  endRefundAtProvider(world(), tip, 'processed')
  await workOnRefunds(world())
  t.like((await own(creator))[0], { status: 'failed', arrivedNgn: 5000, arrivedState: 'given_back' })
  t.is(await readAvailableUsdc(world(), creator), 0)

  // What the provider refuses waits again.
  const again = await shortTip()
  world().fiat.fiatpay.faults.setMode({ refunds: 'reject', rejectText: 'Not now' })
  t.is((await decide(again.creator, again.tip, 'give-back')).status, 200)
  await workOnRefunds(world())
  t.like((await own(again.creator))[0], { arrivedState: 'waiting' })
  t.is((await decide(again.creator, again.tip, 'accept-short')).status, 200)
})

test.serial('of many decisions at once one counts', async (t) => {
  const { creator, tip } = await shortTip()
  const answers = await Promise.all(
    Array.from({ length: 40 }, (_, index) => decide(creator, tip, index % 2 ? 'accept-short' : 'give-back')),
  )
  const won = answers.filter(({ status }) => status === 200)
  t.is(won.length, 1)
  t.true(answers.every(({ status, body }) => status === 200 || body.code === 'short_decided'))
  const accepted = won[0]?.body.decision === 'accepted'
  await workOnRefunds(world())
  t.is(await readAvailableUsdc(world(), creator), accepted ? 3.125 : 0)
  t.is(refundsAtProvider(world(), tip).length, accepted ? 0 : 1)
})

test.serial('who may decide, and about what', async (t) => {
  const { creator, tip } = await shortTip()
  const stranger = await registerCreator(world())
  const paid = await paidTip(world(), creator)
  const refused = async (who: Pick<TestCreator, 'session'>, id: string): Promise<unknown> => {
    const { status, body } = await decide(who, id, 'accept-short')
    return [status, body.code]
  }
  t.deepEqual(await refused(stranger, tip), [404, 'tip_not_found'])
  t.deepEqual(await refused(creator, 'x'), [404, 'tip_not_found'])
  t.deepEqual(await refused(creator, unusedSignature()), [400, 'tip_not_in_naira'])
  t.deepEqual(await refused(creator, paid), [409, 'short_decided'])
  t.is((await world().request('POST', `/creators/tips/${tip}/give-back`)).status, 401)
  await world()
    .db('users')
    .where({ id: creator.user.id })
    .update({ frozen_at: new Date(), frozen_reason: 'test' })
  t.is((await decide(creator, tip, 'give-back')).status, 403)
  await world().db('users').where({ id: creator.user.id }).update({ frozen_at: null, frozen_reason: null })

  // An operator was faster.
  const { provider_transaction: payment } = await world()
    .db('fiat_payments')
    .where({ intent_id: tip })
    .first()
  const order = ['--returned', payment, '--reason', 'by hand', '--apply']
  t.is((await runOpsScript(world(), 'suspense', ...order)).code, 0)
  t.deepEqual(await refused(creator, tip), [409, 'short_decided'])
  t.like((await own(creator, `?q=${tip}`))[0], { arrivedState: 'given_back' })
})
