import test from 'ava'
import type { Person } from '../../helpers/make/creators.js'
import { createWithdrawal, creatorWithBalance, type PayoutBody } from '../../helpers/make/withdrawals.js'
import { startWorkerProcess } from '../../helpers/servers/service-process.js'
import { useWorld } from '../../helpers/servers/world.js'
import { until } from '../../helpers/until.js'

const world = useWorld(test, { fiat: true })

async function listBankNames({ session }: Person): Promise<(string | null)[]> {
  const { body } = await world().request<{ payouts: PayoutBody[] }>('GET', '/payouts/history', { session })
  return body.payouts.map(({ bankName }) => bankName)
}

test.serial('the history shows bank names, also when the provider was away at the start', async (t) => {
  t.timeout(120_000)
  world().fiat.fiatpay.faults.setFault({ accounts: '500' })
  t.teardown(() => world().fiat.fiatpay.faults.reset())
  const ada = await creatorWithBalance(world(), 100)
  await createWithdrawal(world(), ada, { amountUSDC: 2 })
  const clock = await startWorkerProcess(t, 'clock', world().env)
  await until('the clock has failed to read the banks', () =>
    clock.logs.some(({ msg }) => msg === 'a scheduled task failed; it runs again at its next time'),
  )
  t.deepEqual(await listBankNames(ada), [null])
  world().fiat.fiatpay.faults.reset()
  await until('the bank has its name', async () => (await listBankNames(ada))[0] !== null)
  t.deepEqual(await listBankNames(ada), ['Guaranty Trust Bank'])
  const { session } = ada
  const csv = await world().request<string>('GET', '/payouts/history?format=csv', { session })
  t.regex(csv.body, /Guaranty Trust Bank/)
})

test.serial('a clock stores the banks at its start', async (t) => {
  await world().db('banks').del()
  await startWorkerProcess(t, 'clock', world().env)
  await until('the banks are stored', async () => (await world().db('banks').first()) !== undefined)
  t.pass()
})
