import type { ReceivedMail } from '../../scripts/sandbox/mail/received-mail.js'
import { createMailerBatch } from '../../src/mail/send-emails.js'
import { createSmtp } from '../../src/providers/smtp/smtp.js'
import type { Person } from './make/people.js'
import { runBatch, type World } from './servers/world.js'
import { until } from './until.js'

/** The mailer's batch, sending through the SMTP server of the world (opened with `mail: true`). */
export function mailerBatch({ env, services }: World) {
  const mail = createSmtp({ url: env['SMTP_URL'] ?? '', from: env['MAIL_FROM'] ?? '' })
  return createMailerBatch({ ...services, mail })
}

/** Sends what waits until the newest e-mail to this address has been sent, by whichever batch took it. */
export async function deliver(world: World, email: string): Promise<ReceivedMail> {
  await until(`the e-mail to ${email} is sent`, async () => {
    await runBatch(mailerBatch(world))
    const newest = await world.db('emails').where({ recipient: email }).orderBy('created_at', 'desc').first()
    return newest?.sent_at != null
  })
  const [mail] = world.mail.received(email)
  if (mail === undefined) throw new Error(`nothing arrived at ${email}`)
  return mail
}

/** Has a code mailed to somebody and reads it there. */
export async function mailedCode(world: World, { email }: Pick<Person, 'email'>): Promise<string> {
  const answer = await world.request('POST', '/auth/otp/start', { body: { email } })
  if (answer.status !== 200) throw new Error(`otp/start answered ${answer.status}`)
  const { text } = await deliver(world, email)
  const code = /^ {4}([0-9]{6})$/m.exec(text)?.[1]
  if (code === undefined) throw new Error(`no code in ${text}`)
  return code
}

/** A well-formed code that is not this one; another for every `nth` below 999,999. */
export function otherCode(code: string, nth = 1): string {
  return String((Number(code) + nth) % 1_000_000).padStart(6, '0')
}
