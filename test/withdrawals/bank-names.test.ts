import test from 'ava'
import { creatorWith, type PayoutBody, withdrawal } from '../helpers/make/payouts.js'
import type { Person } from '../helpers/make/people.js'
import { startWorkerProcess } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { fiat: true, env: { WITHDRAW_WAIT_MS: '0' } })
/** The clock looks every quarter of a minute, and starts late on a loaded machine. */
const patienceMs = 40_000

async function namesFor({ session }: Person): Promise<(string | null)[]> {
  const { body } = await world().request<{ payouts: PayoutBody[] }>('GET', '/payouts/history', { session })
  return body.payouts.map(({ bankName }) => bankName)
}

test.serial(
  'the history names banks nobody has asked for, also after a provider that was away at the start',
  async (t) => {
    t.timeout(120_000)
    world().fiat.fiatpay.behaviour.setFault({ accounts: '500' })
    t.teardown(() => world().fiat.fiatpay.behaviour.reset())
    const ada = await creatorWith(world(), 100)
    await withdrawal(world(), ada, { amountUSDC: 2 })
    const clock = await startWorkerProcess(t, 'clock', world().env)
    await until(
      'the clock has asked for the banks in vain',
      () => clock.logs.some(({ msg }) => msg === 'a scheduled task failed; it runs again'),
      patienceMs,
    )
    t.deepEqual(await namesFor(ada), [null])
    world().fiat.fiatpay.behaviour.reset()
    await until('the bank has its name', async () => (await namesFor(ada))[0] !== null, patienceMs)
    t.deepEqual(await namesFor(ada), ['Guaranty Trust Bank'])
    const { session } = ada
    const csv = await world().request<string>('GET', '/payouts/history?format=csv', { session })
    t.regex(csv.body, /Guaranty Trust Bank/)
  },
)

test.serial('a clock names them at its start', async (t) => {
  await world().db('banks').del()
  await startWorkerProcess(t, 'clock', world().env)
  await until('the banks are there', async () => (await world().db('banks').first()) !== undefined)
  t.pass()
})
