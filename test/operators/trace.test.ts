import test, { type ExecutionContext } from 'ava'
import type { Story } from '../../src/operators/trace/story.js'
import { createConfirmedTips, someConfirmation } from '../helpers/make/confirmed-tips.js'
import { type Person, registerCreator } from '../helpers/make/creators.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat-tips.js'
import { unusedSignature, unusedWallet } from '../helpers/make/supporter.js'
import {
  createWithdrawal,
  creatorWithBalance,
  followOutcome,
  sendDuePayouts,
} from '../helpers/make/withdrawals.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { startOperatorsPages } from '../helpers/servers/operators-pages.js'
import { useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true })

const trace = (...args: string[]) => runOpsScript(world(), 'trace', ...args)

/** What trace tells as JSON. */
async function storyOf(text: string): Promise<Story> {
  const { code, out, err } = await trace(text, '--json')
  if (code !== 0) throw new Error(`${text}: ${err}${out}`)
  return (JSON.parse(out) as { story: Story }).story
}

/** Whether these words stand in a story's lines in this order. */
function hasInOrder(t: ExecutionContext, { lines }: Story, words: readonly RegExp[]): void {
  let at = 0
  for (const one of words) {
    const found = lines.findIndex(({ text }, index) => index >= at && one.test(text))
    t.true(found >= 0, `${one} in\n${lines.map(({ text }) => text).join('\n')}`)
    at = found + 1
  }
}

test.serial(
  'a tip on the chain: its record, its confirmation and its credit, by its signature',
  async (t) => {
    const ada = await registerCreator(world())
    const tip = someConfirmation(ada.wallet)
    await createConfirmedTips(world(), [tip])
    const story = await storyOf(tip.id)
    t.like(story, { kind: 'tip', id: tip.id, related: [{ kind: 'creator', id: ada.user.id }] })
    t.regex(story.facts[0] ?? '', /^A tip on the chain of 1 USDC: confirmed/)
    hasInOrder(t, story, [/was recorded/, /was confirmed/])
    t.true(story.lines.some(({ text }) => /^ledger, \w+: .*the creator's \w+ \+0\.98 USDC/.test(text)))
  },
)

test.serial('a naira tip: payment, credit and suspense, by every name that it has', async (t) => {
  const ada = await registerCreator(world())
  const email = 'payer.of.trace@example.com'
  const { intentId } = await createFiatIntent(world(), {
    creatorId: ada.user.id,
    amount: 10,
    payerEmail: email,
  })
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  const { provider_transaction: payment } = await world()
    .db('fiat_payments')
    .where({ intent_id: intentId })
    .first()
  for (const name of [intentId, intentId.replace('_', '-'), intentId.toUpperCase(), payment, ` ${intentId} `])
    t.is((await storyOf(name)).id, intentId, name)
  const story = await storyOf(intentId)
  hasInOrder(t, story, [/intent was made/, /NGN [\d,.]+ recorded, credited/])
  t.true(story.lines.some(({ text }) => text.startsWith('ledger, ')))
  t.false(JSON.stringify(story).includes(email), 'nothing says who paid')
})

async function paidWithdrawal(): Promise<{ ada: Person; reference: string }> {
  const ada = await creatorWithBalance(world(), 10)
  world().fiat.fiatpay.faults.setMode({ transfers: 'manual' })
  const { reference } = await createWithdrawal(world(), ada, { amountUSDC: 10 })
  await sendDuePayouts(world())
  await followOutcome(world(), reference, 'success')
  return { ada, reference }
}

test.serial('a withdrawal: hold, sending and end, by its reference in any case', async (t) => {
  const { ada, reference } = await paidWithdrawal()
  const story = await storyOf(reference.toLowerCase())
  t.like(story, { kind: 'withdrawal', id: reference })
  hasInOrder(t, story, [/asked for it/, /requests to send it began/, /it was paid/])
  t.is(story.lines.filter(({ text }) => text.startsWith('ledger, ')).length, 2, 'the hold and its post')
  t.false(JSON.stringify(story).includes('0123456789'), 'the account number is not told')
  const told = (await trace(reference)).out
  t.regex(told, /\nnpm run ops -- payouts show FIATPAY-[0-9A-F]{32}\n$/)

  const byMail = await storyOf(ada.email.toUpperCase())
  t.like(byMail, { kind: 'creator', id: ada.user.id })
  t.true(byMail.related.some(({ id }) => id === reference))
  t.true(byMail.facts.some((fact) => fact.startsWith('Its money: available ')))
  t.is((await storyOf(`auth_${ada.user.id}`)).id, ada.user.id)
})

test.serial('what is unknown is exit code 1, and nothing that is typed breaks the look-up', async (t) => {
  const unknown = [
    unusedSignature(),
    unusedWallet(),
    'pi_00000000-0000-4000-8000-000000000000',
    'FIATPAY-00000000000000000000000000000000',
    '00000000-0000-4000-8000-000000000000',
    'nobody@example.com',
    "' or 1=1 --",
    '\u0000',
    '%00',
    '\ud800',
    'x'.repeat(5000),
  ]
  for (const text of unknown) {
    const { code, err } = await trace(text)
    t.is(code, 1, text)
    t.regex(err, /^nothing here is called /)
  }
  t.is((await trace()).code, 2)
  t.is((await trace('a', 'b')).code, 2)
})

test.serial('the page tells the same, with links, and says when it finds nothing', async (t) => {
  const get = await startOperatorsPages(t, world())
  const { reference } = await paidWithdrawal()
  const found = await get(`/ops/find?q=${reference}`)
  t.is(found.status, 200)
  t.regex(found.text, /it was paid/)
  t.regex(found.text, /<a href="\/ops\/find\?q=[0-9a-f-]{36}">/)
  t.is((await get('/ops/find?q=%3Cscript%3E')).status, 404)
  t.is((await get('/ops/find')).status, 404)
  t.is((await get('/ops/find?q=%E0%A4%A')).status, 404)
})
