import test from 'ava'
import { codeEmail } from '../../src/accounts/one-time-codes/code-mail.js'
import { emailLayout } from '../../src/mail/layout.js'

const hostile = `<script>alert(1)</script> & "quotes" 'too' <img src=x onerror=y>`

test('the code e-mail has the code, the site, the lifetime and advice', (t) => {
  const { subject, text } = codeEmail({ code: '012345', minutes: 10, site: 'tips.example' })
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

test('text and HTML contain the same words', (t) => {
  const { text, html } = emailLayout({ subject: 'x', blocks: ['Hello  there,', { standout: '42' }, 'bye'] })
  const words = (from: string) =>
    from
      .replace(/<[^>]*>/g, ' ')
      .split(/\s+/)
      .filter(Boolean)
  t.deepEqual(words(html), words(text))
})

test('markup in a block is escaped in HTML and unchanged in text', (t) => {
  const { text, html } = emailLayout({ subject: 'x', blocks: [hostile, { standout: hostile }] })
  t.deepEqual(html.match(/<(?!!DOCTYPE|\/?(html|body|div|p)\b)/g), null)
  t.is(html.split('&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;quotes&quot; &#39;too&#39;').length, 3)
  t.true(text.includes('<script>alert(1)</script>'), 'plain text is not escaped')
})

test('the HTML loads nothing and has no links', (t) => {
  const { html } = emailLayout({ subject: 'x', blocks: ['y', { standout: 'z' }] })
  t.false(/src=|href=|url\(|@import/i.test(html))
})

test('a subject is cleaned to one line of at most 200 characters', (t) => {
  const { subject } = emailLayout({ subject: ' a\r\nBcc: b@example.com\u202e ', blocks: [] })
  t.is(subject, 'a Bcc: b@example.com')
  t.is(emailLayout({ subject: 'x'.repeat(999), blocks: [] }).subject.length, 200)
})

test('text is wrapped at 72 characters, except for longer words', (t) => {
  const { text } = emailLayout({ subject: 'x', blocks: ['word '.repeat(100), 'x'.repeat(100)] })
  const lines = text.split('\n')
  t.true(lines.every((line) => line.length <= 72 || line === 'x'.repeat(100)))
})
