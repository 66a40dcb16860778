import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import test from 'ava'
import { ProviderError } from '../../../src/kernel/provider-error.js'
import { ExchangeRates } from '../../../src/market/exchange-rates.js'
import { loadConfig } from '../../../src/platform/config/config.js'
import { countAlerts } from '../../helpers/alerts-and-mails.js'
import { advanceMonotonicClock } from '../../helpers/clock.js'
import { registerCreator } from '../../helpers/make/creators.js'
import {
  createFiatIntent,
  payFiatIntent,
  readAvailableUsdc,
  readFiatStatus,
  settleIntentNow,
} from '../../helpers/make/fiat/fiat-tips.js'
import { listTips } from '../../helpers/make/tips.js'
import { bank, creatorWithBalance, requestWithdrawal } from '../../helpers/make/withdrawals.js'
import { runOpsScript } from '../../helpers/run-ops-script.js'
import { useWorld } from '../../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })
const run = promisify(execFile)

/** Longer than a good reading is cached. */
const freshMs = 15_001
/** Longer than a bad reading is cached. */
const pauseMs = 3001

async function quoteRate(): Promise<string> {
  const { status, body } = await world().request<{ rate?: number; error?: string }>(
    'GET',
    '/payments/fiat/rate',
  )
  return `${status} ${body.rate ?? body.error}`
}

const alerts = (kind = 'rate_refused') => countAlerts(world(), kind)

function setFeed(change: Parameters<ReturnType<typeof world>['fiat']['rates']['set']>[0]): void {
  world().fiat.rates.set(change)
  advanceMonotonicClock(freshMs)
}

test.beforeEach(async () => {
  world().fiat.rates.reset()
  const { db } = world()
  await db('rates').whereNull('accepted_at').del()
  await db('rates').update({ accepted_at: new Date(0) })
  advanceMonotonicClock(freshMs)
})

for (const [what, change] of Object.entries({
  'off by a hundred': { NGN: 160_000 },
  'a hundredth': { NGN: 16 },
  zero: { NGN: 0 },
  absent: { NGN: null },
  stale: { asOf: new Date(Date.now() - 11 * 60_000).toISOString() },
}))
  test.serial(`a rate that is ${what} stops new intents, and nothing else`, async (t) => {
    const creator = await registerCreator(world())
    const { intentId } = await createFiatIntent(world(), { creatorId: creator.user.id, amount: 10 })
    const before = await alerts()
    setFeed(change)
    t.is(await quoteRate(), '503 Rate unavailable')
    const refused = await world().request('POST', '/payments/fiat/intent', {
      body: { creatorId: creator.user.id, amount: 10 },
    })
    t.is(`${refused.status} ${refused.body.error}`, '503 Rate unavailable')
    t.true((await alerts()) > before)

    payFiatIntent(world(), intentId)
    await settleIntentNow(world(), intentId)
    t.is(await readFiatStatus(world(), intentId), 'completed')
    t.is(await readAvailableUsdc(world(), creator), 9.5)
    t.like((await listTips(world(), creator.wallet))[0], { status: 'confirmed' })

    // The next good reading allows new intents again.
    world().fiat.rates.reset()
    advanceMonotonicClock(pauseMs)
    t.is(await quoteRate(), '200 1600')
  })

test.serial('while the feed cannot be reached the last rate is valid for ten minutes', async (t) => {
  t.is(await quoteRate(), '200 1600')
  setFeed({ feed: 'down' })
  t.is(await quoteRate(), '200 1600')
  await world().db.raw(
    `update rates set accepted_at = clock_timestamp() - interval '570 s' where accepted_at > 'epoch'`,
  )
  advanceMonotonicClock(pauseMs)
  t.is(await quoteRate(), '200 1600')
  await world().db.raw(
    `update rates set accepted_at = clock_timestamp() - interval '601 s' where accepted_at > 'epoch'`,
  )
  advanceMonotonicClock(pauseMs)
  t.is(await quoteRate(), '503 Rate unavailable')
})

test.serial('withdrawals wait while a rate is missing or does not fit', async (t) => {
  const person = await creatorWithBalance(world(), 100)
  const withdraw = async () => {
    const { status, body } = await requestWithdrawal<{ amountNGN?: number; error?: string }>(
      world(),
      person,
      {
        ...bank,
        amountUSDC: 1,
      },
    )
    return `${status} ${body.amountNGN ?? body.error}`
  }
  t.is(await withdraw(), '200 1550')
  for (const bad of [
    { NGN: null },
    { NGN: 160_000 },
    { NGN: 1600, asOf: new Date(Date.now() - 11 * 60_000).toISOString() },
  ]) {
    setFeed(bad)
    t.is(await withdraw(), '503 Rate unavailable')
  }
})

test.serial('after a bad reading an unavailable feed does not revive the rate before', async (t) => {
  t.is(await quoteRate(), '200 1600')
  for (const bad of [{ NGN: 160_000 }, { NGN: null }]) {
    setFeed({ ...bad, feed: 'ok' })
    t.is(await quoteRate(), '503 Rate unavailable')
    setFeed({ feed: 'down' })
    t.is(await quoteRate(), '503 Rate unavailable')
    setFeed({ NGN: 1600, feed: 'ok' })
    t.is(await quoteRate(), '200 1600')
  }
})

test.serial('the feed is read once for all requests within fifteen seconds', async (t) => {
  const { services } = world()
  let readings = 0
  const exchangeRates = {
    read: () => {
      readings += 1
      return services.exchangeRates.read()
    },
  }
  const rates = new ExchangeRates({ ...services, exchangeRates })
  await Promise.all(Array.from({ length: 100 }, () => rates.current()))
  await rates.current()
  t.is(readings, 1)
  advanceMonotonicClock(freshMs)
  await rates.current()
  t.is(readings, 2)
})

test.serial('an operator accepts a real jump of the rate, and the audit log has the operator', async (t) => {
  const { env, db } = world()
  const accept = (...args: string[]) =>
    run(process.execPath, ['dist/scripts/ops/money/accept-rate.js', '--json', ...args], {
      env: { ...process.env, DATABASE_URL: env['DATABASE_URL'] },
    })
  t.is(await quoteRate(), '200 1600')
  t.regex((await accept('--help')).stdout, /--reason <text>/)
  const idle = JSON.parse((await accept('--apply', '--reason', 'x')).stdout)
  t.like(idle, { ok: true, applied: false, before: '1600', after: null })
  t.true(idle.beforeAgeSeconds >= 0 && idle.beforeAgeSeconds < 60)
  setFeed({ NGN: 2400 })
  t.is(await quoteRate(), '503 Rate unavailable')
  t.like(JSON.parse((await accept()).stdout), { applied: false, before: '1600', after: '2400' })
  advanceMonotonicClock(pauseMs)
  t.is(await quoteRate(), '503 Rate unavailable')
  await t.throwsAsync(accept('--rate', '1700', '--reason', 'x', '--apply'), { message: /the feed says 2400/ })
  await t.throwsAsync(accept('--apply'), { message: /--reason/ })
  const note = ['--reason', 'the central bank says so']
  await accept('--rate', '2405', ...note, '--apply', '--as', 'ngozi')
  advanceMonotonicClock(pauseMs)
  t.is(await quoteRate(), '200 2400')
  // The same jump is held back a second time: the operator accepted it only once.
  setFeed({ NGN: 1600 })
  t.is(await quoteRate(), '503 Rate unavailable')
  // Two operators at the same time accept it once.
  const both = await Promise.all([accept('--apply', ...note), accept('--apply', ...note)])
  t.deepEqual(both.map(({ stdout }) => JSON.parse(stdout).applied).sort(), [false, true])
  t.is((await db('audit_log').where({ action: 'accept-rate' })).length, 2)
  setFeed({ NGN: 2400 })
  t.is(await quoteRate(), '503 Rate unavailable')
  t.like(JSON.parse((await accept()).stdout), { before: '1600', after: '2400' })
  // What the operator saw is no longer what is held back.
  setFeed({ NGN: 3000 })
  advanceMonotonicClock(pauseMs)
  t.is(await quoteRate(), '503 Rate unavailable')
  await t.throwsAsync(accept('--apply', ...note), {
    message: /the feed said 2400 and now says 3000: .*--rate/,
  })
  await t.throwsAsync(accept('--apply', '--rate', '2400', ...note), { message: /the feed says 3000/ })
  t.like(JSON.parse((await accept('--rate', '3000')).stdout), { before: '1600', after: '3000' })
  t.is((await db('audit_log').where({ action: 'accept-rate' })).length, 2)
  t.like(await db('audit_log').where({ action: 'accept-rate' }).first(), {
    actor: 'ngozi',
    details: { before: '1600', after: '2400', reason: 'the central bank says so' },
  })
})

/** Moves every rate into the past. */
async function passTime(seconds: number): Promise<void> {
  await world().db.raw(
    `update rates set accepted_at = accepted_at - ? * interval '1 second', created_at = created_at - ? * interval '1 second'
     where accepted_at is null or accepted_at > 'epoch'`,
    [seconds, seconds],
  )
}

test.serial('steps of +19 % do not walk the rate, not even slowly, and raise the alarm', async (t) => {
  for (const pause of [15, 3600]) {
    await world().db('rates').whereNull('accepted_at').del()
    await world()
      .db('rates')
      .update({ accepted_at: new Date(0) })
    setFeed({ NGN: 1600 })
    t.is(await quoteRate(), '200 1600')
    const before = await alerts()
    let naira = 1600
    for (let step = 0; step < 4; step++) {
      await passTime(pause)
      naira = Math.floor(naira * 1.19)
      setFeed({ NGN: naira })
      const expected = step === 0 ? `200 ${naira}` : '503 Rate unavailable'
      t.is(await quoteRate(), expected, `${pause} s, step ${step}`)
    }
    t.true((await alerts()) > before)
    setFeed({ NGN: 1700 })
    t.is(await quoteRate(), '200 1700')
  }
})

test.serial('a rate of twelve hours is the median, and accept-rate restarts the window', async (t) => {
  t.is(await quoteRate(), '200 1600')
  setFeed({ NGN: 1900 })
  t.is(await quoteRate(), '200 1900')
  await passTime(13 * 3600)
  setFeed({ NGN: 2200 })
  t.is(await quoteRate(), '200 2200')
  setFeed({ NGN: 2500 })
  t.is(await quoteRate(), '503 Rate unavailable')
  const accept = ['--apply', '--reason', 'the central bank says so']
  t.is((await runOpsScript(world(), 'accept-rate', ...accept)).code, 0)
  for (const next of [2500, 2900]) {
    setFeed({ NGN: next })
    t.is(await quoteRate(), `200 ${next}`)
  }
  setFeed({ NGN: 3050 })
  t.is(await quoteRate(), '503 Rate unavailable')
})

test.serial('under recommended a rate alone moves at most 5 % in ten minutes', async (t) => {
  const { services, env } = world()
  const { rates: limits } = loadConfig({ ...env, GUARDS: 'recommended' })
  const config = { ...services.config, rates: limits }
  const one = new ExchangeRates({ ...services, config })
  const two = new ExchangeRates({ ...services, config, secondExchangeRates: services.exchangeRates })
  const read = async (rates: ExchangeRates, naira: number) => {
    setFeed({ NGN: naira })
    return rates.current().then(
      ({ value }) => Number(value) / 1e8,
      (error: Error) => error.message,
    )
  }
  t.is(await read(one, 1600), 1600)
  await passTime(77)
  t.is(await read(one, 1904), 'Rate unavailable', 'a step of 19 % in 77 s')
  t.is(await read(one, 1672), 1672)
  await passTime(77)
  t.is(await read(one, 1750), 'Rate unavailable', 'nor in small steps')
  t.is(await read(one, 1520), 'Rate unavailable', 'nor down from the highest')
  await passTime(600)
  t.is(await read(one, 1750), 1750, 'ten minutes later')
  t.is(await read(two, 1904), 1904, 'a second source agrees')
  t.is(await read(two, 1930), 'Rate unavailable', 'not beyond the window of the day')
  t.is((await runOpsScript(world(), 'accept-rate', '--apply', '--reason', 'looked up')).code, 0)
  t.is(await read(one, 1930), 1930, 'a person agrees')
})

test.serial('a second feed that disagrees stops intents until an operator accepts the rate', async (t) => {
  const { services } = world()
  let second = 1600
  const secondExchangeRates = {
    read: async () => ({ value: BigInt(second) * 10n ** 8n, asOf: new Date() }),
  }
  const rates = new ExchangeRates({ ...services, secondExchangeRates })
  t.is((await rates.current()).value, 1600n * 10n ** 8n)
  second = 1700
  advanceMonotonicClock(freshMs)
  await t.throwsAsync(rates.current(), { message: 'Rate unavailable' })
  await runOpsScript(world(), 'accept-rate', '--apply', '--reason', 'looked up')
  advanceMonotonicClock(pauseMs)
  t.is((await rates.current()).value, 1600n * 10n ** 8n)
})

test.serial('without the second feed the accepted rate serves for ten minutes, with an alarm', async (t) => {
  const { services } = world()
  const unit = 10n ** 8n
  let first = 1600
  let answers = true
  const exchangeRates = { read: async () => ({ value: BigInt(first) * unit, asOf: new Date() }) }
  const secondExchangeRates = {
    read: async () => {
      if (!answers) throw new ProviderError('unavailable', 'no answer')
      return { value: BigInt(first) * unit, asOf: new Date() }
    },
  }
  const rates = new ExchangeRates({ ...services, exchangeRates, secondExchangeRates })
  t.is((await rates.current()).value, 1600n * unit)
  answers = false
  first = 1610
  const away = await alerts('rate_feed_away')
  advanceMonotonicClock(freshMs)
  t.is((await rates.current()).value, 1600n * unit, 'a reading that cannot be compared waits')
  t.is(await alerts('rate_feed_away'), away + 1)
  // The first feed alone can still refuse: a jump stops at once.
  first = 160
  advanceMonotonicClock(pauseMs)
  await t.throwsAsync(rates.current(), { message: 'Rate unavailable' })
  answers = true
  first = 1610
  advanceMonotonicClock(pauseMs)
  t.is((await rates.current()).value, 1610n * unit)

  answers = false
  await passTime(601)
  const refused = await alerts()
  advanceMonotonicClock(freshMs)
  await t.throwsAsync(rates.current(), { message: 'Rate unavailable' })
  t.is(await alerts(), refused + 1)
  // An operator vouches for the first feed while the second is away.
  t.is((await runOpsScript(world(), 'accept-rate', '--apply', '--reason', 'looked up')).code, 0)
  first = 1615
  advanceMonotonicClock(pauseMs)
  t.is((await rates.current()).value, 1615n * unit)
})
