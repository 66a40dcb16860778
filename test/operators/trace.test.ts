import test, { type ExecutionContext } from 'ava'
import type { Knex } from 'knex'
import { usdc } from '../../src/kernel/tokens.js'
import { linesPerPage, pageOf, type Story } from '../../src/operators/trace/story.js'
import { createTransact } from '../../src/platform/database/transact.js'
import { createConfirmedTips, someConfirmation } from '../helpers/make/confirmed-tips.js'
import { type Person, registerCreator, registerPerson } from '../helpers/make/creators.js'
import {
  createFiatIntent,
  type FiatIntentBody,
  payFiatIntent,
  settleIntentNow,
} from '../helpers/make/fiat/fiat-tips.js'
import { unusedSignature, unusedWallet } from '../helpers/make/supporter.js'
import { someClaim } from '../helpers/make/tips.js'
import {
  createWithdrawal,
  creatorWithBalance,
  followOutcome,
  requestWithdrawal,
  sendDuePayouts,
} from '../helpers/make/withdrawals.js'
import { runOpsScript, type ScriptRun } from '../helpers/run-ops-script.js'
import { useWorld, type World } from '../helpers/servers/world.js'

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

test.serial('a tip on the chain: its record, confirmation and credit, by its signature', async (t) => {
  const ada = await registerCreator(world())
  const tip = someConfirmation(ada.wallet)
  await createConfirmedTips(world(), [tip])
  const story = await storyOf(tip.id)
  t.like(story, { kind: 'tip', id: tip.id, related: [{ kind: 'creator', id: ada.user.id }] })
  t.regex(story.facts[0] ?? '', /^A tip on the chain of 1 USDC: confirmed/)
  hasInOrder(t, story, [/was recorded/, /was confirmed/])
  t.true(story.lines.some(({ text }) => /^ledger, \w+: .*the creator's \w+ \+0\.98 USDC/.test(text)))
})

test.serial('a payment intent and the tip that carries it, by its id and its reference key', async (t) => {
  const { db } = world()
  const ada = await registerCreator(world())
  const tip = someConfirmation(ada.wallet)
  await createConfirmedTips(world(), [tip])
  const { recipient_party: party } = await db('tips').where({ id: tip.id }).first()
  const [id, key, source] = ['pi_00000000-0000-4000-8000-000000000001', unusedWallet(), unusedWallet()]
  await db('payment_intents').insert({
    id,
    recipient_party: party,
    payout_wallet: ada.wallet,
    source_wallet: source,
    input_mint: usdc.mint,
    input_raw: '2500000',
    output_mint: usdc.mint,
    expected_raw: '2450000',
    least_raw: '2450000',
    fee_raw: '50000',
    amount_usd_cents: 250,
    token_symbol: 'USDC',
    provider: 'direct-transfer',
    execution_mode: 'sync',
    price_impact_pct: 0,
    reference_key: key,
    transaction: Buffer.from('x'),
    last_valid_block_height: 77,
  })
  await db('tips').where({ id: tip.id }).update({ intent_id: id })
  for (const name of [id, key]) t.like(await storyOf(name), { kind: 'intent', id })
  const story = await storyOf(id)
  t.is(story.facts[0], `An intent to pay 2.5 USDC from ${source} to ${ada.wallet}, by direct-transfer.`)
  t.regex(
    story.facts[2] ?? '',
    /^The finder looks for its payment next at \d{4}-\d\d-\d\dT[\d:.]+Z, after 0 searches\.$/,
  )
  hasInOrder(t, story, [/intent was made/])
  t.true(story.lines.some(({ text }) => text === `the tip ${tip.id} was recorded: confirmed`))
  t.deepEqual(story.related, [{ kind: 'creator', id: ada.user.id }])
})

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

  const { id } = await world().db('withdrawals').where({ reference }).first()
  await world().db('review_items').insert({ withdrawal_id: id, kind: 'mismatch' })
  const reviewed = await storyOf(reference)
  hasInOrder(t, reviewed, [/it was paid/, /review opened: mismatch/])
  t.true(reviewed.commands.includes(`payouts resolve ${reference} --paid <naira>`))
  const told = (await trace(reference)).out
  t.regex(told, /\nnpm run ops -- payouts show FIATPAY-[0-9A-F]{32}\n$/)

  const byMail = await storyOf(ada.email.toUpperCase())
  t.like(byMail, { kind: 'creator', id: ada.user.id })
  t.true(byMail.lines.some(({ text }) => text.startsWith(`withdrawal ${reference}: `)))
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
  t.is((await trace('a', 'b')).code, 1, 'perhaps a name')
})

test.serial('the request id of an answer finds what it made: tip, claim, intent, withdrawal', async (t) => {
  const { request } = world()
  const ada = await creatorWithBalance(world(), 10)
  const requestOf = async (path: string, body: object, traceparent = ''): Promise<string> => {
    const { status, headers } = await request('POST', path, { body, headers: { traceparent } })
    t.is(status, 200, path)
    return String(headers['x-request-id'])
  }
  const claim = someClaim()
  const tip = await requestOf('/chain/tips/create', claim)
  t.is((await storyOf(tip)).id, claim.txSignature)
  t.is((await storyOf(tip.replaceAll('-', ''))).id, claim.txSignature, 'it is a trace')
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736'
  const traceparent = `00-${traceId}-00f067aa0ba902b7-01`
  const other = await requestOf('/chain/tips/create', { ...claim, message: 'another' }, traceparent)
  for (const text of [traceId, traceId.toUpperCase(), traceparent])
    t.is((await storyOf(text)).id, claim.txSignature)
  hasInOrder(t, await storyOf(tip), [
    new RegExp(`another claim.*, by the request ${other}, in the trace ${traceId}$`),
  ])
  t.is((await storyOf(other)).id, claim.txSignature)
  hasInOrder(t, await storyOf(tip), [new RegExp(`recorded, by the request ${tip}`), new RegExp(other)])
  const again = await requestOf('/chain/tips/create', claim)
  t.is((await trace(again)).code, 1, 'it made nothing')
  const naira = await requestOf('/payments/fiat/intent', { creatorId: ada.user.id, amount: 10 })
  t.regex((await storyOf(naira)).id, /^fiatpay_/)
  const withdrawal = await requestWithdrawal(world(), ada, { amountUSDC: 10 })
  const story = await storyOf(String(withdrawal.headers['x-request-id']).toUpperCase())
  t.like(story, { kind: 'withdrawal', id: withdrawal.body.reference })
  t.true(story.commands.includes(`payouts void ${withdrawal.body.reference}`), story.commands.join('; '))
})

test.serial('each step of a withdrawal and of a tip is one line of the log', async (t) => {
  const { services } = world()
  const lines: { text: string; fields: Readonly<Record<string, unknown>> }[] = []
  const log = (fields: Readonly<Record<string, unknown>>, text: string) => lines.push({ text, fields })
  const { wake } = services
  const nothing = () => undefined
  const transactOn = (db: Knex) => createTransact(db, { wake, removeJobs: nothing, publish: nothing, log })
  const logged: World = Object.create(world(), { services: { value: { ...services, transactOn } } })
  const ada = await creatorWithBalance(world(), 10)
  world().fiat.fiatpay.faults.setMode({ transfers: 'manual' })
  const { body, headers } = await requestWithdrawal(world(), ada, { amountUSDC: 10 })
  await sendDuePayouts(logged)
  await followOutcome(logged, body.reference, 'success')
  const own = lines.filter(({ fields }) => fields['reference'] === body.reference)
  t.deepEqual(
    own.map(({ text }) => text).filter((text) => text !== 'a withdrawal is being sent'),
    ['the provider accepted a withdrawal', 'the provider has started a withdrawal', 'a withdrawal was paid'],
  )
  const traceOf = (id: unknown) => String(id).replaceAll('-', '')
  t.true(own.every(({ fields }) => fields['requestId'] === headers['x-request-id']))
  t.true(own.every(({ fields }) => fields['traceId'] === traceOf(headers['x-request-id'])))

  const creator = await registerCreator(world())
  const tip = someConfirmation(creator.wallet)
  await createConfirmedTips(logged, [tip])
  const asked = { creatorId: creator.user.id, amount: 10 }
  const naira = await world().request<FiatIntentBody>('POST', '/payments/fiat/intent', {
    body: asked,
  })
  payFiatIntent(world(), naira.body.intentId)
  await settleIntentNow(logged, naira.body.intentId)
  const ofTips = lines.filter(({ fields }) => fields['tip'] !== undefined)
  t.deepEqual(ofTips.map(({ text }) => text).slice(0, 1), ['a tip was confirmed'])
  t.deepEqual(ofTips.at(-1), {
    text: 'a naira tip was paid and confirmed',
    fields: {
      tip: naira.body.intentId,
      requestId: naira.headers['x-request-id'],
      traceId: traceOf(naira.headers['x-request-id']),
    },
  })
})

test('a long life is told in pages, and lines of the same time are never divided', (t) => {
  const lineAt = (ms: number, text: string) => ({ at: new Date(ms), text })
  const lines = Array.from({ length: linesPerPage * 2 + 50 }, (_, index) =>
    lineAt(index < linesPerPage + 60 ? 1000 : index, String(index)),
  )
  const whole = { kind: 'creator', id: 'x', facts: [], related: [], commands: [], lines } as const
  const first = pageOf(whole, new Date(1e6))
  t.is(first.lines.length, linesPerPage + 60)
  const second = pageOf(whole, first.older ?? new Date(0))
  t.is(second.older, null)
  t.is(first.lines.length + second.lines.length, lines.length)
})

const work = (...args: string[]): Promise<ScriptRun> => runOpsScript(world(), 'work', ...args)

/** Makes a wallet whose provisioning failed and that is due in an hour. Returns the key of its row. */
async function failedWallet(): Promise<string> {
  const { db } = world()
  const { user } = await registerPerson(world())
  const later = db.raw(`clock_timestamp() + interval '1 hour'`)
  await db('wallets')
    .where({ user_id: user.id })
    .update({ due_at: later, attempts: 2, last_error: 'vault unavailable' })
  return user.id
}

const dueAt = async (row: string): Promise<Date> =>
  (await world().db('wallets').where({ user_id: row }).first()).due_at

test('work list shows the counts of every worker, and with --kind its rows', async (t) => {
  const row = await failedWallet()
  const all = await work('list')
  t.is(all.code, 0)
  t.regex(all.out, /^provisioner +wallets +\d+ due.*; [1-9]\d* failing; [1-9]\d* later$/m)
  const { out } = await work('list', '--kind', 'provisioner', '--json')
  const { rows } = JSON.parse(out) as { rows: { id: string; lastError: string; attempts: number }[] }
  t.like(
    rows.find(({ id }) => id === row),
    { lastError: 'vault unavailable', attempts: 2 },
  )
})

test('work retry makes a row due only with --apply, and writes it to the audit log', async (t) => {
  const row = await failedWallet()
  const plan = await work('retry', row, '--kind', 'provisioner')
  t.deepEqual([plan.code, plan.out], [0, `provisioner ${row}: would be due now; add --apply to do it\n`])
  t.true((await dueAt(row)) > new Date())
  t.is((await work('retry', row, '--kind', 'provisioner', '--apply', '--as', 'olu')).code, 0)
  t.true((await dueAt(row)) <= new Date())
  const [entry] = await world()
    .db('audit_log')
    .where({ subject: `provisioner:${row}` })
  t.like(entry, { actor: 'olu', action: 'work retry' })
})

test('work retry refuses a row without work, a withdrawal and wrong arguments', async (t) => {
  t.is((await work('retry', 'nobody', '--kind', 'mailer', '--apply')).code, 1)
  for (const args of [
    ['retry', 'x', '--kind', 'payouts', '--apply'],
    ['retry', 'x'],
    ['list', '--kind', 'tips'],
    ['list', '--kind', 'mailer', '--limit', '0'],
    [],
    ['list', 'x'],
    ['list', 'x', 'y'],
    ['lsit'],
  ])
    t.is((await work(...args)).code, 2, args.join(' '))
  t.is((await work('--help')).code, 0)
})

test.serial('a creator is found by how the name begins, and of several the operator chooses', async (t) => {
  const ada = await registerCreator(world())
  const eve = await registerCreator(world())
  await world().db('users').where({ id: ada.user.id }).update({ name: 'Zainab 100% Yusuf' })
  await world().db('users').where({ id: eve.user.id }).update({ name: 'ZAINAB Bello' })
  t.like(await storyOf('zainab 100%'), { kind: 'creator', id: ada.user.id })
  t.is((await trace('Zainab', 'Bello')).code, 0, 'a name without quotes')
  const { code, out } = await trace('zainab')
  t.is(code, 0)
  for (const { user } of [ada, eve]) t.true(out.includes(`trace ${user.id}`))
  for (const text of ['zainab_', '%', '__', 'Yusuf']) t.not((await trace(text)).code, 0, text)
})
