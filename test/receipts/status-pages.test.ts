import test from 'ava'
import { mailText } from '../../scripts/kit/mail-text.js'
import { disputeTip, lookNow, newestPayment } from '../helpers/make/fiat/disputes.js'
import {
  createFiatIntent,
  expireFiatIntent,
  failCharge,
  payFiatIntent,
  settleIntentNow,
} from '../helpers/make/fiat/fiat-tips.js'
import { endRefundAtProvider, requestRefund, workOnRefunds } from '../helpers/make/fiat/refunds.js'
import { createSession, registerEmbedder } from '../helpers/make/sdk.js'
import { runOpsScript } from '../helpers/run-ops-script.js'
import { publicUrl, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true, mail: true })

interface WithStatusUrl {
  readonly intentId: string
  readonly statusUrl?: string
}

const payer = { senderName: 'Bola Secret', payerEmail: 'bola.secret@example.com' }

async function newTip(body: Record<string, unknown> = {}) {
  const creator = await registerEmbedder(world())
  const answer = await createFiatIntent(world(), {
    creatorId: creator.id,
    amount: 10,
    reference: 'Order <7>',
    metadata: { shelf: 'hidden shelf' },
    memo: 'well <b>done</b>',
    ...payer,
    ...body,
  })
  const { intentId, statusUrl = '' } = answer as WithStatusUrl
  return { creator, intentId, path: statusUrl.replace(publicUrl, '') }
}

/** The page as text, without its tags. */
async function read(path: string) {
  const response = await fetch(`${world().url}${path}`)
  const html = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    html,
    text: html.replace(/<style[\s\S]*?<\/style>|<[^>]*>/g, ' '),
  }
}

const receiptOf = (path: string) =>
  world().request<{ code?: string; receipt: Record<string, unknown> }>('GET', `${path}.json`)

test('every state of a naira tip has a page in plain words, which names no payer', async (t) => {
  const tips = await Promise.all(Array.from({ length: 7 }, () => newTip()))
  const [waiting, late, short, failed, paid, over, disputed] = tips
  if (!waiting || !late || !short || !failed || !paid || !over || !disputed) throw new Error('seven tips')
  const pay = async (tip: typeof paid, kobo?: number) => {
    payFiatIntent(world(), tip.intentId, kobo)
    await settleIntentNow(world(), tip.intentId)
  }
  await expireFiatIntent(world(), late.intentId)
  await settleIntentNow(world(), late.intentId)
  await pay(short, 1_000_000)
  failCharge(world(), failed.intentId)
  await settleIntentNow(world(), failed.intentId)
  await pay(paid)
  await pay(over, 2_000_000)
  await pay(disputed)
  disputeTip(world(), disputed.intentId)
  await lookNow(world())

  const expected = [
    [waiting, 'Waiting for ₦15,200.00', 'Do not pay a second time', 'Pay now'],
    [late, 'The time to pay is over', 'we look for your payment for 7 days', 'Asked for'],
    [short, 'Only ₦10,000.00 arrived', '₦15,200.00 were asked for', 'go back to the page and tip the rest'],
    [failed, 'This payment could not be completed', 'No money has arrived', 'ask your bank first'],
    [paid, 'Paid. Thank you!', 'The creator got 9.5 USDC, after our fee', 'Signed receipt'],
    [over, 'Paid. Thank you!', 'You paid ₦4,800.00 more than was asked for', 'It waits for you'],
    [disputed, 'Your bank is asking about this payment', 'The bank decides', 'tell your bank so'],
  ] as const
  const thanks = 'Thanks to <you>'
  for (const { creator } of [paid, disputed, short])
    await world().db('creator_pages').insert({ user_id: creator.id, thanks })
  for (const [tip, ...parts] of expected) {
    const { status, text, html, headers } = await read(tip.path)
    t.is(status, 200)
    const flat = text.replace(/\s+/g, ' ')
    for (const part of [...parts, 'Order &lt;7&gt;', tip.intentId, 'Write to support@tips.example'])
      t.true(flat.includes(part), `${part} in ${flat}`)
    for (const secret of ['Bola', 'bola.secret', 'hidden shelf']) t.false(html.includes(secret), secret)
    t.is(html.match(/<script/gi)?.length ?? 0, Number(/ data-seconds="/.test(html)))
    t.true(html.includes('noindex'))
    t.is(headers.get('cache-control'), 'no-store')
    t.is(headers.get('referrer-policy'), 'no-referrer')
    const isPaid = [paid, over, disputed].includes(tip)
    t.is(
      html.includes('well &lt;b&gt;done&lt;/b&gt;'),
      isPaid,
      'the words of a tip that is not paid are not shown',
    )
    t.is(html.includes('Thanks to &lt;you&gt;'), tip === paid, 'the thanks are for who has paid')
    const { status: receiptStatus, body } = await receiptOf(tip.path)
    t.is(receiptStatus, isPaid ? 200 : 409, JSON.stringify(body))
  }
  t.regex((await read(waiting.path)).html, / data-seconds="10"/)
  t.notRegex((await read(paid.path)).html, / data-seconds=/)
  t.is((await receiptOf(disputed.path)).body.receipt['status'], 'disputed')

  // Late money counts, and the same page says so.
  await pay(late)
  t.regex((await read(late.path)).text, /Paid\. Thank you!/)
  // What an operator returns is told too.
  const done = await runOpsScript(
    world(),
    'suspense',
    '--returned',
    await newestPayment(world(), short.intentId),
    ...['--reason', 'by hand', '--apply'],
  )
  t.is(done.code, 0, done.err)
  t.regex((await read(short.path)).text, /Your money went back\s+₦10,000\.00 went back/)
})

test('a refund in naira is exact, and page and receipt say how much of it is back', async (t) => {
  const { creator, intentId, path } = await newTip()
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  const before = (await receiptOf(path)).body.receipt
  t.like(before, { status: 'paid', amount: '15200', currency: 'NGN', refunded: '0', received: '9.5' })
  const refund = (body: object) =>
    world().request<{
      refund: { amountNGN: number; amountUSD: number }
      details?: { field: string; problem: string }[]
    }>('POST', `/creators/tips/${intentId}/refund`, { session: creator.session, body })
  for (const [body, field] of [
    [{ amountNGN: 15_200.01 }, 'amountNGN'],
    [{ amountNGN: 5000, amountUSD: 1 }, 'amountNGN'],
    [{ amountNGN: 0 }, 'amountNGN'],
    [{ amountNGN: '5000' }, 'amountNGN'],
  ] as const) {
    const { status, body: refusal } = await refund(body)
    t.is(status, 400, JSON.stringify(body))
    t.is(refusal.details?.[0]?.field, field)
  }
  const { status, body } = await refund({ amountNGN: 5000 })
  t.is(status, 200)
  t.like(body.refund, { amountNGN: 5000, amountUSD: 3.29 })
  t.regex((await read(path)).text, /₦5,000\.00 are on their way back/)
  await workOnRefunds(world())
  endRefundAtProvider(world(), intentId, 'processed')
  await workOnRefunds(world())
  t.regex((await read(path)).text, /A part of your tip was given back\s+₦5,000\.00 went back/)
  t.like((await receiptOf(path)).body.receipt, {
    status: 'partly-refunded',
    refunded: '5000',
    amount: '15200',
  })
  const rest = await requestRefund(world(), creator, intentId)
  t.is(rest.body.refund.amountNGN, 10_200, 'the rest is the rest to the kobo')
  t.like((await receiptOf(path)).body.receipt, { status: 'refunded', refunded: '15200' })
})

test('nobody guesses a link, and no link leads to another payment', async (t) => {
  const { path, intentId } = await newTip()
  const other = await newTip()
  const token = path.slice('/t/'.length)
  const otherToken = other.path.slice('/t/'.length)
  const flip = (at: number) => `${token.slice(0, at)}${token[at] === 'A' ? 'B' : 'A'}${token.slice(at + 1)}`
  const guesses = [
    ...Array.from(token, (_, at) => flip(at)),
    `c${token.slice(1)}`,
    // The id of one payment with the code of another.
    `${token.slice(0, 22)}${otherToken.slice(22)}`,
    intentId,
    token.slice(0, -1),
    `${token}A`,
    token.toUpperCase(),
    '..%2f..%2fetc',
    '%00',
    'n',
    'x'.repeat(5000),
  ]
  for (const guess of guesses) {
    const { status, text } = await read(`/t/${guess}`)
    t.is(status, 404, guess)
    t.false(text.includes(intentId))
    t.is((await fetch(`${world().url}/t/${guess}.json`)).status, 404, guess)
  }
  t.is((await read(path)).status, 200)
})

test('who knows only the contract sees no statusUrl; integrators and sessions do', async (t) => {
  const creator = await registerEmbedder(world())
  const body = { creatorId: creator.id, amount: 10 }
  t.false('statusUrl' in (await createFiatIntent(world(), body)))
  t.false('statusUrl' in (await createFiatIntent(world(), body, 'sdk_sess_of-nobody')))
  t.true('statusUrl' in (await createFiatIntent(world(), { ...body, metadata: { order: 7 } })))
  const { sessionToken } = await createSession(world(), creator)
  const made = (await createFiatIntent(world(), body, sessionToken)) as WithStatusUrl
  const { body: list } = await world().request<{ intents: WithStatusUrl[] }>('GET', '/sdk/intents', {
    bearer: sessionToken,
  })
  t.is(list.intents[0]?.statusUrl, made.statusUrl)
  t.regex(made.statusUrl ?? '', /^http:\/\/tips\.example\/t\/n[\w-]{43}$/)
})

test('the receipt has the naira sign, a readable date, the message and the link', async (t) => {
  const { path, intentId } = await newTip({
    payerEmail: 'mails@example.com',
    memo: 'Call 08031234567 or see https://evil.example/pay now',
  })
  payFiatIntent(world(), intentId)
  await settleIntentNow(world(), intentId)
  const [mail] = await world()
    .db('emails')
    .where({ kind: 'receipt' })
    .whereRaw('body::text like ?', `%${intentId}%`)
  t.is(mail.subject, 'Your tip of ₦15,200.00')
  t.regex(mailText(mail), /^Paid: \d{1,2} \w+ 20\d\d at \d\d:\d\d, Lagos time$/m)
  t.regex(mailText(mail).replace(/\s+/g, ' '), /Your message: "Call 080\.\.\. or see \(link\) now"/)
  t.true(mailText(mail).includes(`${publicUrl}${path}`))
  t.false(mailText(mail).includes('evil.example'))
})
