import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'
import { ExchangeRates } from '../../src/market/exchange-rates.js'
import { moveClock } from '../helpers/clock.js'
import { registerCreator } from '../helpers/make/creators.js'
import { availableUsdc, fiatIntent, fiatStatus, pay, settleNow } from '../helpers/make/fiat-tips.js'
import { listTips } from '../helpers/make/tips.js'
import { runScript } from '../helpers/ops.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })
const run = promisify(execFile)

/** Longer than a good reading is kept. */
const freshMs = 15_001
/** Longer than a bad one is. */
const pauseMs = 3001

async function quoted(): Promise<string> {
  const { status, body } = await world().request<{ rate?: number; error?: string }>(
    'GET',
    '/payments/fiat/rate',
  )
  return `${status} ${body.rate ?? body.error}`
}

async function alerts(): Promise<number> {
  const { values } = await world().services.metrics.alerts.get()
  return values.find(({ labels }) => labels.kind === 'rate_refused')?.value ?? 0
}

function feed(change: Parameters<ReturnType<typeof world>['fiat']['rates']['set']>[0]): void {
  world().fiat.rates.set(change)
  moveClock(freshMs)
}

test.beforeEach(async () => {
  world().fiat.rates.reset()
  const { db } = world()
  await db('rates').whereNull('accepted_at').del()
  await db('rates').update({ accepted_at: new Date(0) })
  moveClock(freshMs)
})

for (const [what, change] of Object.entries({
  'off by a hundred': { NGN: 160_000 },
  'a hundredth': { NGN: 16 },
  zero: { NGN: 0 },
  absent: { NGN: null },
  stale: { asOf: new Date(Date.now() - 11 * 60_000).toISOString() },
}))
  test.serial(`a rate feed that is ${what} stops new intents at once, and nothing else`, async (t) => {
    const creator = await registerCreator(world())
    const { intentId } = await fiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
    const before = await alerts()
    feed(change)
    t.is(await quoted(), '503 Rate unavailable')
    const refused = await world().request('POST', '/payments/fiat/intent', {
      body: { creatorId: creator.user.id, amount: 10 },
    })
    t.is(`${refused.status} ${refused.body.error}`, '503 Rate unavailable')
    t.true((await alerts()) > before)

    pay(world(), intentId)
    await settleNow(world(), intentId)
    t.is(await fiatStatus(world(), intentId), 'completed')
    t.is(await availableUsdc(world(), creator), 9.5)
    t.like((await listTips(world(), creator.wallet))[0], { status: 'confirmed' })

    // The next good reading opens again by itself.
    world().fiat.rates.reset()
    moveClock(pauseMs)
    t.is(await quoted(), '200 1600')
  })

test.serial('a feed that cannot be reached leaves the last rate in force for ten minutes', async (t) => {
  t.is(await quoted(), '200 1600')
  feed({ feed: 'down' })
  t.is(await quoted(), '200 1600')
  await world().db.raw(
    `update rates set accepted_at = clock_timestamp() - interval '599 s' where accepted_at > 'epoch'`,
  )
  moveClock(pauseMs)
  t.is(await quoted(), '200 1600')
  await world().db.raw(
    `update rates set accepted_at = clock_timestamp() - interval '601 s' where accepted_at > 'epoch'`,
  )
  moveClock(pauseMs)
  t.is(await quoted(), '503 Rate unavailable')
})

test.serial(
  'a feed that goes away after a bad reading does not make the rate before it good again',
  async (t) => {
    t.is(await quoted(), '200 1600')
    for (const bad of [{ NGN: 160_000 }, { NGN: null }]) {
      feed({ ...bad, feed: 'ok' })
      t.is(await quoted(), '503 Rate unavailable')
      feed({ feed: 'down' })
      t.is(await quoted(), '503 Rate unavailable')
      feed({ NGN: 1600, feed: 'ok' })
      t.is(await quoted(), '200 1600')
    }
  },
)

test.serial('the feed is asked once for all who ask within fifteen seconds', async (t) => {
  const { services } = world()
  let readings = 0
  const exchangeRates = {
    read: () => {
      readings += 1
      return services.exchangeRates.read()
    },
  }
  const book = new ExchangeRates({ ...services, exchangeRates })
  await Promise.all(Array.from({ length: 100 }, () => book.current()))
  await book.current()
  t.is(readings, 1)
  moveClock(freshMs)
  await book.current()
  t.is(readings, 2)
})

test.serial('an operator is told the last accepted rate and its age, also when none waits', async (t) => {
  t.is(await quoted(), '200 1600')
  await world().db.raw(
    `update rates set accepted_at = clock_timestamp() - interval '30 h' where accepted_at > 'epoch'`,
  )
  const idle = await runScript(world(), 'accept-rate')
  const told = 'no rate waits to be accepted; last accepted, in naira for a dollar: 1600 (30 h ago)\n'
  t.deepEqual(idle, { code: 0, out: told, err: '' })
  t.is(await world().db('audit_log').where({ action: 'accept-rate' }).first(), undefined)
})

test.serial('a true jump is accepted by an operator, who is written down', async (t) => {
  const { env, db } = world()
  const accept = (...args: string[]) =>
    run(process.execPath, ['dist/scripts/ops/accept-rate.js', '--json', ...args], {
      env: { ...process.env, DATABASE_URL: env['DATABASE_URL'] },
    })
  t.is(await quoted(), '200 1600')
  t.regex((await accept('--help')).stdout, /--reason <text>/)
  const idle = JSON.parse((await accept('--apply', '--reason', 'x')).stdout)
  t.like(idle, { ok: true, applied: false, before: '1600', after: null })
  t.true(idle.beforeAgeSeconds >= 0 && idle.beforeAgeSeconds < 60)
  feed({ NGN: 2400 })
  t.is(await quoted(), '503 Rate unavailable')
  t.like(JSON.parse((await accept()).stdout), { applied: false, before: '1600', after: '2400' })
  moveClock(pauseMs)
  t.is(await quoted(), '503 Rate unavailable')
  await t.throwsAsync(accept('--rate', '1700', '--reason', 'x', '--apply'), { message: /the feed says 2400/ })
  await t.throwsAsync(accept('--apply'), { message: /--reason/ })
  const note = ['--reason', 'the central bank says so']
  await accept('--rate', '2405', ...note, '--apply', '--as', 'ngozi')
  moveClock(pauseMs)
  t.is(await quoted(), '200 2400')
  // The same jump a second time waits again: it was accepted for then, not for ever.
  feed({ NGN: 1600 })
  t.is(await quoted(), '503 Rate unavailable')
  // Two operators at once accept it once.
  const both = await Promise.all([accept('--apply', ...note), accept('--apply', ...note)])
  t.deepEqual(both.map(({ stdout }) => JSON.parse(stdout).applied).sort(), [false, true])
  t.is((await db('audit_log').where({ action: 'accept-rate' })).length, 2)
  feed({ NGN: 2400 })
  t.is(await quoted(), '503 Rate unavailable')
  t.like(JSON.parse((await accept()).stdout), { before: '1600', after: '2400' })
  t.like(await db('audit_log').where({ action: 'accept-rate' }).first(), {
    actor: 'ngozi',
    details: { before: '1600', after: '2400', note: 'the central bank says so' },
  })
})
