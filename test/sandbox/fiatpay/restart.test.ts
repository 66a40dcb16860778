import test from 'ava'
import { startFiatSandbox } from '../../../scripts/sandbox/fiat-sandbox.js'
import { temporaryFolder } from '../../helpers/temporary-folder.js'
import { until } from '../../helpers/until.js'
import {
  createCaller,
  newRecipient,
  newReference,
  type SentTransfer,
  startFiatFor,
  transferBody,
} from './client.js'

test('a restarted provider keeps charges, payments, names and pending transfers', async (t) => {
  const dataDir = temporaryFolder(t)
  const first = await startFiatSandbox({ dataDir })
  const { post, control: set } = createCaller(first)
  const [paid, open, sent, held] = [newReference(), newReference(), newReference(), newReference()]
  for (const reference of [paid, open])
    await post('/transaction/initialize', { email: 'a@example.com', amount: 20_000, reference })
  for (let times = 0; times < 2; times++) await set(`fiatpay/charges/${paid}`, { outcome: 'paid' })
  const recipient = await newRecipient({ post })
  first.fiatpay.faults.setFault({ settleMs: 300, outcomes: 'reversed' })
  await post('/transfer', transferBody(recipient, sent))
  await set('fiatpay/mode', { transfers: 'manual' })
  await post('/transfer', transferBody(recipient, held))
  const before = first.fiatpay.log()
  await first.close()

  const second = await startFiatFor(t, { dataDir })
  const { get, control: setNow } = createCaller(second)
  t.deepEqual(second.fiatpay.log().charges, before.charges)
  t.is(second.fiatpay.log().charges[0]?.paidKobo, 40_000)
  const resolved = await get<{ account_name: string }>(
    '/bank/resolve?account_number=0123456789&bank_code=058',
  )
  t.is(resolved.body.data.account_name, 'Ada Obi')
  const status = async (reference: string) =>
    (await get<SentTransfer>(`/transfer/verify/${reference}`)).body.data.status
  await until(
    'the planned outcome is applied after the restart',
    async () => (await status(sent)) === 'reversed',
  )
  t.is(await status(held), 'pending')
  await setNow(`fiatpay/transfers/${held}`, { outcome: 'failed' })
  t.is(await status(held), 'failed')
})
