import test from 'ava'
import { createTransport } from 'nodemailer'
import type { ReceivedMail } from '../../scripts/sandbox/mail/mail-server.js'
import { type Sandbox, startSandbox } from '../../scripts/sandbox/server.js'

let sandbox: Sandbox
test.before(async () => {
  sandbox = await startSandbox({ port: 0, slotMs: 0 })
})
test.after.always(() => sandbox.close())
test.serial.afterEach(() => sandbox.mail.reset())

function send(to: string, fields: { subject?: string; text?: string; html?: string } = {}) {
  const content = { subject: 'Hello', text: 'text', html: '<p>html</p>', ...fields }
  return createTransport(sandbox.mail.url).sendMail({ from: 'Tips <tips@example.com>', to, ...content })
}

async function inbox(to?: string): Promise<ReceivedMail[]> {
  const query = to === undefined ? '' : `?to=${encodeURIComponent(to)}`
  return (await (await fetch(`${sandbox.url}/dev/mail${query}`)).json()) as ReceivedMail[]
}

test.serial(
  'mails are listed decoded and newest first, and can be filtered by address, ignoring case',
  async (t) => {
    await send('ada@example.com', { subject: 'first' })
    await send('bob@example.com', {
      subject: '₦ second — ünïcode',
      text: 'Ẹ káàbọ̀ '.repeat(40),
      html: '<b>Ẹ</b>',
    })
    const [second, first, ...others] = await inbox()
    t.deepEqual(others, [])
    t.is(first?.subject, 'first')
    t.like(second, { to: 'bob@example.com', from: 'tips@example.com', subject: '₦ second — ünïcode' })
    t.is(second?.text.trim(), 'Ẹ káàbọ̀ '.repeat(40).trim())
    t.is(second?.html.trim(), '<b>Ẹ</b>')
    t.true(Math.abs(Date.parse(second?.at ?? '') - Date.now()) < 60_000)
    t.is((await inbox('ADA@example.com')).length, 1)
    t.deepEqual(await inbox('nobody@example.com'), [])
  },
)

test.serial('an address with an international domain finds its mails in both spellings', async (t) => {
  await send('ada@xn--bcher-kva.example')
  for (const to of ['ada@xn--bcher-kva.example', 'ada@BÜCHER.example']) t.is((await inbox(to)).length, 1, to)
  t.deepEqual(await inbox('ada@bucher.example'), [])
})
