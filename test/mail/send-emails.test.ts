import { randomUUID } from 'node:crypto'
import test from 'ava'
import { mailText } from '../../scripts/kit/mail-text.js'
import { ProviderError } from '../../src/kernel/provider-error.js'
import { deleteFinishedEmails, queueEmail } from '../../src/mail/queue-email.js'
import { createMailerBatch } from '../../src/mail/send-emails.js'
import type { Email, Mail } from '../../src/ports/mail.js'
import { createSmtp } from '../../src/providers/smtp/smtp.js'
import { countAlerts } from '../helpers/alerts-and-mails.js'
import { freshEmail, registerPerson } from '../helpers/make/creators.js'
import { mailerBatch } from '../helpers/make/sign-in/emailed-codes.js'
import { as } from '../helpers/servers/roles.js'
import { assertWoken } from '../helpers/servers/worker-loops.js'
import { runBatch, setRows, useWorld } from '../helpers/servers/world.js'
import { until } from '../helpers/until.js'

const world = useWorld(test, { mail: true, proxies: true })
const unreachable = 'smtp://127.0.0.1:1'

// The tests are serial, because every batch takes all due e-mails.
test.serial.afterEach(async () => {
  world().mail.reset()
  await world().db('emails').delete()
})

async function queue(to = freshEmail(), expiresAt?: Date, unsubscribeUrl?: string): Promise<string> {
  const content = { subject: ' Sub\r\nject\u202e ', blocks: ['secret text'] }
  const expiry = {
    ...(expiresAt !== undefined && { expiresAt }),
    ...(unsubscribeUrl !== undefined && { unsubscribeUrl }),
  }
  await world().services.transact((uow) => queueEmail(uow, { kind: 'test', to, ...content, ...expiry }))
  return to
}

function row(recipient: string) {
  return world().db('emails').where({ recipient }).first()
}

function batchThrough(mail: Pick<Mail, 'send'>) {
  return createMailerBatch({ ...as('mailer', world().services), mail })
}

function batchThroughSmtp(url: string, timeoutMs?: number) {
  const deadline = timeoutMs === undefined ? {} : { timeoutMs }
  return batchThrough(createSmtp({ url, from: 'Tips <support@tips.example>', ...deadline }))
}

async function makeDue(recipient: string): Promise<void> {
  await setRows(world(), 'emails', { recipient }, { due_at: new Date(0) })
}

const alerts = () => countAlerts(world(), 'mail_given_up')

const finished = { due_at: null, body: null }

test.serial(
  'what becomes of e-mails that end together is written by one statement, for each by itself',
  async (t) => {
    const people = [await queue(), await queue(), await queue()]
    const [refused = '', ...accepted] = people
    const batch = batchThrough({
      async send({ to }) {
        if (to === refused) throw new ProviderError('rejected', 'no such person')
      },
    })
    const statements = await world().proxies.sql.during(() => runBatch(batch))
    t.is(statements.filter((name) => name === 'emails.finish').length, 1)
    t.like(await row(refused), { ...finished, sent_at: null, last_error: 'no such person' })
    for (const to of accepted) t.true((await row(to)).sent_at instanceof Date)
  },
)

test.serial('a result of an attempt that another mailer has begun anew is not written', async (t) => {
  const to = await queue()
  const batch = batchThrough({
    async send() {
      await world().db('emails').where({ recipient: to }).increment('attempts', 1)
    },
  })
  await runBatch(batch)
  t.like(await row(to), { sent_at: null, attempts: 2 })
})

test.serial(
  'a mail that can be turned off says so to mail programs, and keeps no token when it is sent',
  async (t) => {
    const url = 'https://tips.example/tip-mails/3f6c1e9a-8d1b-4c58-9f0e-2b7a4d5c6e10'
    const [plain, other] = [await queue(), await queue(freshEmail(), undefined, url)]
    await runBatch(mailerBatch(world()))
    t.is(world().mail.received(plain)[0]?.unsubscribe, undefined)
    t.deepEqual(world().mail.received(other)[0]?.unsubscribe, [`<${url}>`, 'List-Unsubscribe=One-Click'])
    t.is((await row(other)).unsubscribe_url, null)
  },
)

test.serial('an e-mail arrives once, as text and HTML, and its body is deleted', async (t) => {
  const to = await queue()
  t.is(await runBatch(mailerBatch(world())), 1)
  t.is(await runBatch(mailerBatch(world())), 0)
  const [mail, ...others] = world().mail.received(to)
  t.deepEqual(others, [])
  const { id, sent_at, ...rest } = await row(to)
  t.like(mail, { to, from: 'support@tips.example', subject: 'Sub ject', messageId: `<${id}@tips.example>` })
  t.is(mail?.text.trim(), 'Tips\n\nsecret text')
  t.true(mail?.html.includes('<p>secret text</p>'))
  t.not(sent_at, null)
  t.like(rest, { ...finished, subject: 'Sub ject', last_error: null, attempts: 1 })
})

test.serial('an e-mail is queued if and only if its transaction commits', async (t) => {
  const to = freshEmail()
  const content = { subject: 's', blocks: [] }
  const failing = world().services.transact(async (uow) => {
    await queueEmail(uow, { kind: 'test', to, ...content })
    throw new Error('roll back')
  })
  await t.throwsAsync(failing, { message: 'roll back' })
  t.is(await row(to), undefined)
})

test.serial('while the mail server is down, retries come at growing pauses', async (t) => {
  const to = await queue()
  const pauses: (number | undefined)[] = []
  for (let n = 0; n < 4; n++) {
    await makeDue(to)
    pauses.push((await batchThroughSmtp(unreachable)()).nextDueMs)
  }
  t.deepEqual(pauses, [5000, 15_000, 45_000, 135_000])
  const waiting = await row(to)
  t.is(waiting.last_error, 'mail server: ESOCKET CONN')
  t.true(waiting.due_at.getTime() > Date.now() + 120_000)
  t.true(mailText(waiting).includes('secret text'))
  await makeDue(to)
  await runBatch(mailerBatch(world()))
  t.is(world().mail.received(to).length, 1)
})

test.serial('after twelve attempts an e-mail is given up with an alert', async (t) => {
  const to = await queue()
  await world().db('emails').update({ attempts: 10 })
  const before = await alerts()
  t.is((await batchThroughSmtp(unreachable)()).nextDueMs, 3_600_000)
  t.is(await alerts(), before)
  await makeDue(to)
  await batchThroughSmtp(unreachable)()
  t.is(await alerts(), before + 1)
  t.like(await row(to), { ...finished, sent_at: null, attempts: 12 })
})

test.serial('a refused address and a slow address do not delay other e-mails', async (t) => {
  const [refused, slow] = [await queue(), await queue()]
  const others = await Promise.all(Array.from({ length: 8 }, () => queue()))
  world().mail.faults.set({ to: refused, code: 550 })
  await runBatch(mailerBatch(world()))
  t.like(await row(refused), {
    ...finished,
    sent_at: null,
    last_error: 'mail server: EENVELOPE RCPT TO 550',
  })
  t.is(world().mail.received().length, 9)

  world().mail.reset()
  const again = await Promise.all([slow, ...others].map((to) => queue(to)))
  world().mail.faults.set({ to: slow, delayMs: 60_000 })
  let ended = false
  const batch = batchThroughSmtp(world().env['SMTP_URL'] ?? '', 8000)().then(() => {
    ended = true
  })
  await until('the others are sent', () => world().mail.received().length === again.length - 1)
  t.false(ended, 'before the slow one')
  await batch
  const [late] = await world().db('emails').where({ recipient: slow }).whereNotNull('due_at')
  t.is(late.last_error, 'mail server: EABORT')
})

test.serial('content that a server quotes in its refusal is not stored', async (t) => {
  const to = await queue()
  world().mail.faults.set({ code: 554, at: 'content' })
  await runBatch(mailerBatch(world()))
  const refused = await row(to)
  t.is(refused.last_error, 'mail server: EMESSAGE DATA 554')
  t.false(JSON.stringify(refused).includes('secret'))
  t.is(world().mail.received().length, 0)
})

test.serial('an expired e-mail is not sent and raises an alert', async (t) => {
  const to = await queue(freshEmail(), new Date(Date.now() - 1))
  const inTime = await queue(freshEmail(), new Date(Date.now() + 60_000))
  const before = await alerts()
  await runBatch(mailerBatch(world()))
  t.like(await row(to), { ...finished, sent_at: null, last_error: 'expired' })
  t.is(await alerts(), before + 1)
  t.is(world().mail.received(to).length, 0)
  t.is(world().mail.received(inTime).length, 1)
})

test.serial('after the death of a mailer the e-mail is sent again with its Message-ID', async (t) => {
  const to = await queue()
  const sent: Email[] = []
  const dying = batchThrough({
    send(email) {
      sent.push(email)
      return new Promise(() => undefined)
    },
  })
  void dying()
  await until('the first mailer has sent', () => sent.length === 1)
  t.is((await mailerBatch(world())()).taken, 0, 'a leased e-mail is not due')
  t.true((await row(to)).due_at.getTime() > Date.now() + 50_000)
  await makeDue(to)
  await runBatch(mailerBatch(world()))
  t.is(world().mail.received(to)[0]?.messageId, `<${sent[0]?.id}@tips.example>`)
})

test.serial('a mailer whose lease expired does not change the result of another mailer', async (t) => {
  const to = await queue()
  let fail: () => void = () => undefined
  let reached = false
  const stuck = batchThrough({
    send: () =>
      new Promise((_, reject) => {
        reached = true
        fail = () => reject(new Error('too late'))
      }),
  })()
  await until('the first mailer is sending', () => reached)
  await makeDue(to)
  await runBatch(mailerBatch(world()))
  const done = await row(to)
  fail()
  await stuck
  t.deepEqual(await row(to), done)
  t.not(done.sent_at, null)
})

test.serial('ten concurrent batches send every e-mail once', async (t) => {
  const people = await Promise.all(Array.from({ length: 60 }, () => queue()))
  await Promise.all(Array.from({ length: 10 }, () => runBatch(mailerBatch(world()))))
  t.is(world().mail.received().length, people.length)
  t.is(
    new Set(
      world()
        .mail.received()
        .map(({ to }) => to),
    ).size,
    people.length,
  )
})

test.serial('an address that looks like a list does not reach its second recipient', async (t) => {
  await queue('ada@example.com, eve@example.com')
  await mailerBatch(world())()
  t.deepEqual(world().mail.received('eve@example.com'), [])
})

test.serial('otp/start wakes the mailer', async (t) => {
  const { email } = await registerPerson(world())
  await assertWoken(t, world().services, 'mailer', () =>
    world().request('POST', '/auth/otp/start', { body: { email } }),
  )
})

test.serial('the SMTP adapter classifies failures', async (t) => {
  const email = { id: randomUUID(), to: freshEmail(), subject: 's', text: 't', html: 'h' }
  const send = (url: string, timeoutMs = 5000) =>
    createSmtp({ url, from: 'a@tips.example', timeoutMs }).send(email)
  const { mail, env } = world()
  const url = env['SMTP_URL'] ?? ''
  await t.throwsAsync(send(unreachable), { name: 'ProviderError' })
  const kindOf = async (sending: Promise<void>) =>
    sending.then(
      () => 'sent',
      (error: { kind: string }) => error.kind,
    )
  t.is(await kindOf(send(unreachable)), 'unavailable')
  t.is(await kindOf(send('smtp://no-such-host.invalid')), 'unavailable')
  for (const [code, kind] of [
    [550, 'rejected'],
    [450, 'unavailable'],
    [421, 'unavailable'],
  ] as const) {
    mail.faults.set({ code })
    t.is(await kindOf(send(url)), kind, String(code))
  }
  mail.faults.set({ delayMs: 10_000, at: 'content', times: 1 })
  t.is(await kindOf(send(url, 2000)), 'ambiguous')
  t.is(mail.received(email.to).length, 1, 'the server had accepted it')
  t.is(await kindOf(send(url)), 'sent')
})

const dayMs = 86_400_000
const ago = (days: number) => new Date(Date.now() - days * dayMs)

test.serial('e-mails are deleted after thirty days, but never one that is due', async (t) => {
  const mail = { kind: 'test', subject: 's', created_at: ago(31) }
  const done = { due_at: null, body: null }
  await world()
    .db('emails')
    .insert([
      { ...mail, ...done, recipient: 'old' },
      { ...mail, ...done, recipient: 'recent', created_at: ago(29) },
      { ...mail, recipient: 'waiting', body: '{}' },
    ])
  await deleteFinishedEmails(as('clock', world().services))
  t.deepEqual((await world().db('emails').pluck('recipient')).sort(), ['recent', 'waiting'])
})
