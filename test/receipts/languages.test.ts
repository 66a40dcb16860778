import test from 'ava'
import { renderQueued } from '../../scripts/kit/mail-text.js'
import { plainPage } from '../../src/http/pages/plain-page.js'
import { type Language, languages } from '../../src/kernel/languages.js'
import { decimalText, lagosText, nairaSignText } from '../../src/kernel/payer-texts.js'
import { renderEmail } from '../../src/mail/layout.js'
import { openAddress } from '../../src/mail/queue-email.js'
import type { Payment, Stage } from '../../src/receipts/payment.js'
import { statusPage } from '../../src/receipts/status-page.js'
import { disputeTip, lookNow } from '../helpers/make/fiat/disputes.js'
import { createFiatIntent, payFiatIntent, settleIntentNow } from '../helpers/make/fiat/fiat-tips.js'
import { endRefundAtProvider, requestRefund, workOnRefunds } from '../helpers/make/fiat/refunds.js'
import { registerEmbedder } from '../helpers/make/sdk.js'
import { publicUrl, useWorld } from '../helpers/servers/world.js'

const world = useWorld(test, { fiat: true, mail: true })

async function newTip(body: Record<string, unknown> = {}) {
  const creator = await registerEmbedder(world())
  const answer = await createFiatIntent(world(), {
    creatorId: creator.id,
    amount: 10,
    reference: 'Order 7',
    ...body,
  })
  const { statusUrl = '' } = answer as { readonly statusUrl?: string }
  return { creator, answer, intentId: answer.intentId, path: statusUrl.replace(publicUrl, '') }
}

async function read(path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${world().url}${path}`, { headers })
  const html = await response.text()
  const [, language] = /<html lang="(\w+)">/.exec(html) ?? []
  return { status: response.status, cookies: response.headers.getSetCookie(), html, language }
}

const storedLanguage = async (intentId: string): Promise<string | null> =>
  (await world().db('fiat_intents').where({ id: intentId }).first()).language

const inFrench = { 'accept-language': 'fr-FR,fr;q=0.9,en;q=0.8' }

test('what the reader chose comes before checkout, creator and browser', async (t) => {
  const { creator, path } = await newTip()
  t.is((await read(path)).language, 'en')
  const french = await read(path, inFrench)
  t.is(french.language, 'fr')
  t.regex(french.html, /<h1>En attente de 15\s200,00\s₦<\/h1>/)
  t.regex(french.html, /\d\d? \p{L}+ 20\d\d à \d\d:\d\d, heure de Lagos/u)
  await world().db('creator_pages').insert({ user_id: creator.id, language: 'pcm' })
  t.is((await read(path, inFrench)).language, 'pcm', 'the creator before the browser')

  const chosen = await newTip({ language: 'fr' })
  await world().db('creator_pages').insert({ user_id: chosen.creator.id, language: 'pcm' })
  t.is((await read(chosen.path)).language, 'fr', 'the checkout before the creator')
  t.is((await read(chosen.path, { cookie: 'lang=en' })).language, 'en', 'the cookie before the checkout')
  const asked = await read(`${chosen.path}?lang=pcm`, { cookie: 'lang=en' })
  t.is(asked.language, 'pcm', 'the address before the cookie')
  t.regex(asked.html, /<h1>We dey wait for ₦15,200\.00<\/h1>/)
  t.regex(asked.cookies.join(), /^lang=pcm; path=\/; expires=.*; samesite=lax; httponly$/)
  t.deepEqual(
    languages.map((one) => asked.html.includes(`<a lang="${one}" href="?lang=${one}">`)),
    [true, false, true],
    'links to the others',
  )
  t.deepEqual((await read(path)).cookies, [], 'who has chosen nothing gets no cookie')

  const missing = await read('/t/nothing', inFrench)
  t.is(missing.status, 404)
  t.regex(missing.html, /<html lang="fr">.*Il n’y a pas de paiement à cette adresse/s)
})

/** A payment in each state that has words of its own. */
function paymentsOf(currency: string): readonly Payment[] {
  const at = new Date('2026-11-26T13:05:00Z')
  const base: Payment = {
    intentId: 'the-intent',
    language: null,
    stage: 'waiting',
    creator: { creatorId: null, creatorName: null },
    tipId: undefined,
    amount: { text: '15200', currency },
    received: { text: '1234.5', currency: 'USDC' },
    paidAt: at,
    message: 'for the album',
    thanks: null,
    reference: null,
    arrived: '10000',
    back: '5000',
    isUnderWay: false,
    surplus: undefined,
    expiresAt: at,
    checkoutUrl: 'https://checkout.example/',
    account: { bankName: 'Kuda', accountNumber: '0123456789', accountName: 'Tips' },
    chain: undefined,
    isFinal: false,
  }
  const stages: Record<Stage, readonly Partial<Payment>[]> = {
    waiting: [{}],
    seen: [{}],
    late: [{}],
    underpaid: [{}],
    failed: [{}],
    paid: [{}, { surplus: '4800' }],
    disputed: [{}],
    'partly-refunded': [{}, { isUnderWay: true }],
    refunded: [{}, { isUnderWay: true }],
  }
  return Object.entries(stages).flatMap(([stage, variants]) =>
    variants.map((variant) => ({ ...base, stage: stage as Stage, ...variant })),
  )
}

test('every state in every language has words of its own, with the figures of the English ones', (t) => {
  const pageOf = (payment: Payment, language: Language, contact?: string) =>
    statusPage(payment, { language, contact, watchDays: 7, signedToken: undefined, token: 'token' })
  for (const currency of ['NGN', 'SOL'])
    for (const payment of paymentsOf(currency)) {
      const english = pageOf(payment, 'en')
      for (const language of ['fr', 'pcm'] as const) {
        const page = pageOf(payment, language)
        const name = `${currency} ${payment.stage} ${language}`
        t.is(page.more?.length, english.more?.length, name)
        for (const [at, text] of [page.title, page.lead, ...(page.more ?? [])].entries()) {
          t.not(text.trim(), '', name)
          t.not(text, [english.title, english.lead, ...(english.more ?? [])][at], name)
        }
        t.notRegex(plainPage(page).replace(/<script>.*<\/script>/s, ''), /undefined|\[object|=>/, name)
        const warns = /a second time/.test(JSON.stringify(english))
        t.is(
          /deuxième fois|two times/.test(JSON.stringify(page)),
          warns,
          `${name} warns as the English page does`,
        )
      }
    }
})

test('amounts and times are written as the language does, and are cut nowhere in a mail', (t) => {
  const at = new Date('2026-11-26T13:05:00Z')
  t.deepEqual(
    languages.map((one) => lagosText(at, one)),
    [
      '26 November 2026 at 14:05, Lagos time',
      '26 November 2026 at 14:05, Lagos time',
      '26 novembre 2026 à 14:05, heure de Lagos',
    ],
  )
  t.deepEqual(
    languages.map((one) => nairaSignText(1_584_000n, one)),
    ['₦15,840.00', '₦15,840.00', '15\u202f840,00\u00a0₦'],
  )
  t.deepEqual(
    languages.map((one) => decimalText('9007199254740993.00001', one)),
    [
      '9,007,199,254,740,993.00001',
      '9,007,199,254,740,993.00001',
      '9\u202f007\u202f199\u202f254\u202f740\u202f993,00001',
    ],
  )
  t.is(nairaSignText(5n, 'en'), '₦0.05')
  const amount = nairaSignText(1_584_000n, 'fr')
  for (let before = 40; before < 75; before += 1) {
    const { text, html } = renderEmail({
      language: 'fr',
      subject: amount,
      blocks: [`${'x'.repeat(before)} ${amount} « Ada » ?`, { facts: [['Payé', amount]] }],
    })
    for (const part of [amount, '« Ada » ?', 'Payé\u00a0:']) t.true(text.includes(part), `${before} ${part}`)
    t.regex(html, /<html lang="fr">/)
  }
})

test('a payer is written to in the language of the checkout, else in English', async (t) => {
  const mailsTo = async (email: string) => {
    const rows = await world().db('emails').whereNotNull('sealed_recipient').orderBy('id')
    const { dataKeys } = world().services.config
    return rows
      .filter((row) => openAddress(dataKeys, row.sealed_recipient) === email)
      .map(({ kind, subject, body }) => {
        const { text, html } = renderQueued({ body, subject })
        return { kind, subject: String(subject), text: text.replaceAll(/\s+/g, ' '), html }
      })
  }
  const expected = {
    en: {
      receipt: ['Your tip of ₦15,200.00', 'Thank you. Your payment for a tip to "'],
      'short-payment': ['Your payment of ₦10,000.00 is less than the tip', 'your money is not lost'],
      refund: ['₦15,200.00 of your tip come back to you', 'Banks need some days'],
      'payer-dispute-opened': ['Your bank asks about your payment of ₦15,200.00', 'The bank decides'],
    },
    fr: {
      receipt: ['Votre pourboire de 15 200,00 ₦', 'Merci. Votre paiement pour un pourboire à « '],
      'short-payment': [
        'Votre paiement de 10 000,00 ₦ est inférieur au pourboire',
        'votre argent n’est pas perdu',
      ],
      refund: ['15 200,00 ₦ de votre pourboire vous reviennent', 'Les banques mettent quelques jours'],
      'payer-dispute-opened': [
        'Votre banque pose une question sur votre paiement de 15 200,00 ₦',
        'La banque décide',
      ],
    },
    pcm: {
      receipt: ['The tip of ₦15,200.00 wey you dash', 'Thank you. Your payment to dash "'],
      'short-payment': ['Your payment of ₦10,000.00 no reach the tip', 'your money no lost'],
      refund: ['₦15,200.00 of your tip dey come back to you', 'Bank dey take some days'],
      'payer-dispute-opened': ['Your bank dey ask about your payment of ₦15,200.00', 'The bank go decide'],
    },
  } as const
  for (const language of [undefined, ...languages]) {
    const payerEmail = `payer-${language ?? 'nobody'}@example.com`
    const body = { payerEmail, ...(language !== undefined && { language }) }
    const [given, short, disputed] = await Promise.all([newTip(body), newTip(body), newTip(body)])
    t.is(await storedLanguage(given.intentId), language ?? null)
    for (const [tip, kobo] of [
      [given, undefined],
      [short, 1_000_000],
      [disputed, undefined],
    ] as const) {
      payFiatIntent(world(), tip.intentId, kobo)
      await settleIntentNow(world(), tip.intentId)
    }
    t.is((await requestRefund(world(), given.creator, given.intentId)).status, 200)
    await workOnRefunds(world())
    endRefundAtProvider(world(), given.intentId, 'processed')
    await workOnRefunds(world())
    disputeTip(world(), disputed.intentId)
    await lookNow(world())
    const mails = await mailsTo(payerEmail)
    for (const [kind, [subject, part]] of Object.entries(expected[language ?? 'en'])) {
      const mail = mails.find((one) => one.kind === kind)
      t.is(mail?.subject, subject, `${language} ${kind}`)
      t.true(mail?.text.includes(part), `${language} ${kind}: ${mail?.text}`)
      t.true(mail?.html.includes(`<html lang="${language ?? 'en'}">`))
    }
  }
})

test('a language that is none counts as none, and the answer is the same', async (t) => {
  const { answer, path } = await newTip()
  const fields = Object.keys(answer).toSorted()
  const wrong = ['x'.repeat(3000), 'FR', 'fr\u0000', '\u202efr', ' fr', '', 7, true, null, ['fr'], { fr: 1 }]
  for (const language of wrong) {
    const tip = await newTip({ language })
    t.is(await storedLanguage(tip.intentId), null, JSON.stringify(language))
    t.deepEqual(Object.keys(tip.answer).toSorted(), fields)
  }
  t.deepEqual(Object.keys((await newTip({ language: 'fr' })).answer).toSorted(), fields)

  for (const query of ['x'.repeat(3000), '%00', '%1b%5b', 'fr&lang=fr', '"><script>', '__proto__', ''])
    t.like(await read(`${path}?lang=${query}`), { status: 200, language: 'en', cookies: [] }, query)
  for (const headers of [
    { 'accept-language': 'x'.repeat(3000) },
    { 'accept-language': ',;=-,*' },
    { cookie: `lang=${'x'.repeat(3000)}` },
    { cookie: 'lang="><script>' },
  ])
    t.like(await read(path, headers), { status: 200, language: 'en', cookies: [] }, JSON.stringify(headers))
})
