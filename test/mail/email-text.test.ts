import test from 'ava'
import {
  changeRequestedNotice,
  emailChangedNotice,
  emailProvenNotice,
} from '../../src/accounts/emails/mails.js'
import { factorNames, factorNotice } from '../../src/accounts/factors/change-factors.js'
import { frozenNotice, unfrozenNotice } from '../../src/accounts/freeze-account.js'
import {
  type AccountNotice,
  describeBrowser,
  noticeBlocks,
  type OwnerNotice,
} from '../../src/accounts/notify-owner.js'
import { passwordNotice } from '../../src/accounts/passwords/change-password.js'
import { walletNotice } from '../../src/accounts/payout-wallets/mails.js'
import { newDeviceNotice } from '../../src/accounts/sessions/session.js'
import { codeEmail } from '../../src/accounts/sign-in/mails.js'
import { apiKeyNotice } from '../../src/creators/api-keys.js'
import { sitesNotice } from '../../src/creators/sites.js'
import { returnNotice } from '../../src/fiat/disputes/mails.js'
import { refundNotice } from '../../src/fiat/refunds/mails.js'
import { quoteDomainInMail, quoteInMail, renderEmail } from '../../src/mail/layout.js'
import { webhookNotice } from '../../src/webhooks/mails.js'
import { type WithdrawalEvent, withdrawalNotice } from '../../src/withdrawals/mails.js'

const hostile = `<script>alert(1)</script> & "quotes" 'too' <img src=x onerror=y>`

test('the code e-mail has the code, the site, the lifetime and advice', (t) => {
  const { subject, text } = renderEmail(
    codeEmail({ code: '012345', minutes: 10, site: 'tips.example', confirms: false }),
  )
  t.is(subject, 'Your code to log in to tips.example')
  t.is(
    text,
    `Tips

Somebody, most likely you, wants to log in to tips.example with this
e-mail address. Enter this code there:

    012345

It is valid for 10 minutes and works once. Never give it to anybody: we
never ask for it.

If it was not you, ignore this e-mail; nobody can log in without the
code.
`,
  )
})

test('who is signed in and confirms the address gets a mail about that', (t) => {
  const { subject, text } = renderEmail(
    codeEmail({ code: '012345', minutes: 10, site: 'tips.example', confirms: true }),
  )
  t.is(subject, 'Confirm your e-mail address at tips.example')
  t.regex(text.replace(/\s+/g, ' '), /confirm that the address is yours, enter this code there: 012345/)
})

test('text and HTML contain the same words', (t) => {
  const { text, html } = renderEmail({
    subject: 'x',
    blocks: [
      'Hello  there,',
      { standout: '42' },
      { link: 'https://tips.example/#a=b', label: 'Press me' },
      { link: 'https://tips.example/' },
      { facts: [['When', 'now']] },
      { list: ['one', 'two'] },
      'bye',
    ],
  })
  const words = (from: string) =>
    from
      .replace(/<[^>]*>/g, ' ')
      .split(/\s+/)
      .filter(Boolean)
  t.deepEqual(words(html), words(text.replace(/^(Press me|Open the page):$/gm, '$1')))
})

test('markup in a block is escaped in HTML and unchanged in text', (t) => {
  const { text, html } = renderEmail({
    subject: 'x',
    blocks: [hostile, { standout: hostile }, { facts: [[hostile, hostile]] }, { list: [hostile] }],
  })
  t.deepEqual(html.match(/<(?!!DOCTYPE|\/?(html|head|meta|body|div|p|b|br)\b)/g), null)
  t.is(html.split('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot; &#39;too&#39;').length, 6)
  t.true(text.includes('<script>alert(1)</script>'), 'plain text is not escaped')
})

test('a subject is cleaned to one line of at most 200 characters', (t) => {
  const { subject } = renderEmail({ subject: ' a\r\nBcc: b@example.com\u202e ', blocks: [] })
  t.is(subject, 'a Bcc: b@example.com')
  t.is(renderEmail({ subject: 'x'.repeat(999), blocks: [] }).subject.length, 200)
})

const withdrawal = {
  reference: 'FIATPAY-6E0B8C5D1F2A4B7C9D3E5F60718293A4',
  amount: 'NGN 12,500.00',
  bank: 'Kuda',
  lastFour: '6789',
}
const refund = {
  tipId: `fiatpay_${'6e'.repeat(16)}`,
  amount: 'USD 10',
  naira: 'NGN 15,200.00',
  debit: '9.5 USDC',
}
const payment = {
  tipId: 'fiatpay_6e0b8c5d1f2a4b7c9d3e5f60718293a4',
  naira: 'NGN 15,200.00',
  usdc: '9.5 USDC',
  owed: '2.25 USDC',
  replyBy: new Date('2026-11-23T12:30:00Z'),
}
const moment = new Date('2026-11-22T23:46:00Z')
const browser =
  'Mozilla/5.0 (Linux; Android 10; K) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Mobile Safari/537.36'

const wallet = '37JX7KtEHY3br5XvJXXXTHed26kkQGApKhzt4QcGTw6V'

function withdrawalEvents(reason: string): WithdrawalEvent[] {
  const byKind: Record<WithdrawalEvent['kind'], WithdrawalEvent> = {
    'payee-added': { kind: 'payee-added' },
    'withdrawal-requested': { kind: 'withdrawal-requested' },
    'withdrawal-paid': { kind: 'withdrawal-paid' },
    'withdrawal-returned': { kind: 'withdrawal-returned' },
    'withdrawal-failed': { kind: 'withdrawal-failed', reason },
    'withdrawal-cancelled': { kind: 'withdrawal-cancelled' },
  }
  return Object.values(byKind)
}

/** Each kind of notice with these words in every place that others choose. */
function everyNotice(words: string): OwnerNotice[] {
  const hostile = { ...withdrawal, bank: words, lastFour: words }
  const byKind: Record<AccountNotice['kind'], AccountNotice> = {
    'new-device': newDeviceNotice,
    'email-proven': emailProvenNotice('elsewhere', false),
    'password-changed': passwordNotice,
    'email-change-requested': changeRequestedNotice(words),
    'email-changed': emailChangedNotice(words),
    'factor-added': factorNotice('factor-added', factorNames.passkey),
    'factor-removed': factorNotice('factor-removed', factorNames.every),
    'api-key-created': apiKeyNotice('live', '7c921cdc9c0b0fd3', words),
    'site-added': sitesNotice(Array<string>(50).fill(words)),
    'webhook-created': webhookNotice('webhook-created', words),
    'webhook-moved': webhookNotice('webhook-moved', words),
    'account-frozen': frozenNotice,
    'account-unfrozen': unfrozenNotice(true),
  }
  return [
    ...Object.values(byKind),
    ...withdrawalEvents(words).map((event) => withdrawalNotice(event, hostile)),
    refundNotice({ kind: 'refund-requested' }, refund),
    refundNotice({ kind: 'refund-paid' }, refund),
    refundNotice({ kind: 'refund-failed', reason: words }, refund),
    walletNotice({ kind: 'payout-wallet-set', wallet, takesTips: true }),
    walletNotice({ kind: 'payout-wallet-removed', wallet }),
    walletNotice({ kind: 'take-out-signed', wallet, amount: '1.5 SOL' }),
    walletNotice({ kind: 'tips-to-changed', wallet, takesTips: false }),
    returnNotice('opened', payment),
    returnNotice('won', payment),
    returnNotice('lost', payment),
    returnNotice('returned', { ...payment, owed: undefined }),
    emailProvenNotice('not-mine', false),
    emailProvenNotice(undefined, false),
    emailProvenNotice(undefined, true),
  ]
}

function mailOf(notice: OwnerNotice, userAgent = browser) {
  const text = notice.describe('tips.example', true)
  const link = text.security ? 'https://tips.example/dashboard#not-me=abc' : undefined
  const origin = { network: '2001:db8:0:7', userAgent }
  const blocks = noticeBlocks(text, { at: moment, origin, link, isLast: false })
  return { ...renderEmail({ subject: text.subject, blocks }), security: text.security }
}

test('a notice says what happened, when, from where, and what to do', (t) => {
  const { subject, text } = mailOf(withdrawalNotice({ kind: 'withdrawal-requested' }, withdrawal))
  t.is(subject, 'Your withdrawal from tips.example')
  t.is(
    text,
    `Tips

A withdrawal from your account at tips.example was requested.

Amount: NGN 12,500.00
Bank account: Kuda ******6789
Reference: FIATPAY-6E0B8C5D1F2A4B7C9D3E5F60718293A4
When: 22 November 2026 at 23:46 UTC (23 November 2026 at 00:46 in Lagos)
Browser: Chrome on Android
Network: 2001:db8:0:7::/64

If this was you, you need not do anything.

If this was not you, open this page and press its button. It freezes the
account at once: everybody is signed out, and nothing can be withdrawn
or changed until you have talked to us. Tips still arrive.

This was not me:
https://tips.example/dashboard#not-me=abc
`,
  )
})

const chosen = `${hostile} https://evil.example/now 48151623 \u202e ${'long '.repeat(100)}`
for (const [index, notice] of everyNotice(chosen).entries())
  test(`the mail ${index} ${notice.kind} keeps the rules of mails`, (t) => {
    const { subject, text, html, security } = mailOf(notice, chosen)
    t.true(subject.length < 80, 'a phone shows it')
    t.notRegex(subject, /\d{4}|evil|script/, 'no code and no words of others')
    t.notRegex(
      text.replace(withdrawal.reference, '').replace(payment.tipId, ''),
      /\d{6}/,
      'no mail program offers a code',
    )
    t.notRegex(text, /evil/)
    t.notRegex(html, /<[^>]*(src|srcset|background)=|url\(|@import|\u202e/)
    t.deepEqual(html.match(/<(?!!DOCTYPE|\/?(html|head|meta|body|div|p|b|br|a)\b)/g), null)
    t.true(text.length < 2500, 'long words are cut')
    t.is(text.includes('#not-me='), security)
    t.regex(text, /22 November 2026 at 23:46 UTC/)
    t.notRegex(`${subject} ${text}`, /undefined|\[object|please be advised|!/i)
  })

test('words of others hold nothing that a mail program makes a link of', (t) => {
  t.is(quoteInMail('call evil.example/pay?a=1 or Me@evil.example now'), 'call (link) or (link) now')
  t.is(quoteInMail('süß.münchen, v1.2 at 10.30'), '(link) v1.2 at 10.30')
  t.is(describeBrowser('See evil.example'), 'See (link)')
  t.is(quoteDomainInMail('*.shop.example:8443'), '*[.]shop[.]example:8443')
  t.is(quoteDomainInMail('evil.com@mail.example'), 'evil[.]com@mail[.]example')
})
