import test from 'ava'
import { until } from '../helpers/until.js'
import { listTips } from '../helpers/tips.js'
import { useBrowser, visit } from '../helpers/browser.js'

const open = useBrowser(test)

test('a SOL tip through a wallet', async (t) => {
  const v = await visit(open(), { tokens: ['USDC'] })
  await v.page.goto(v.embedUrl)
  await v.page.getByRole('radio', { name: 'SOL' }).check({ force: true })
  await v.page.screenshot({ path: '/tmp/faces/a2.png' })
  await v.page.getByRole('button', { name: 'Tip $5.00 with SOL' }).click()
  await v.page.screenshot({ path: '/tmp/faces/b1.png' })
  await v.page.getByRole('button', { name: /Test Wallet/ }).click()
  await v.page.getByRole('heading', { name: 'Check and approve' }).waitFor()
  await v.page.screenshot({ path: '/tmp/faces/d2.png' })
  await v.page.getByRole('button', { name: 'Approve in Test Wallet' }).click()
  await v.page.getByRole('heading', { name: /Thank you/ }).waitFor()
  await v.page.screenshot({ path: '/tmp/faces/g.png' })
  t.deepEqual(v.faults, [])
  t.is((await listTips(open().world, v.embedder.wallet)).length, 1)
  await until('x', () => true)
})
