import { codeIn } from '../../../../scripts/kit/client.js'
import { mailText } from '../../../../scripts/kit/mail-text.js'
import type { ReceivedMail } from '../../../../scripts/sandbox/mail/mail-server.js'
import { codeHmac, signInBound } from '../../../../src/accounts/secrets/codes.js'
import { createMailerBatch } from '../../../../src/mail/send-emails.js'
import { createSmtp } from '../../../../src/providers/smtp/smtp.js'
import { as } from '../../servers/roles.js'
import { runBatch, type World } from '../../servers/world.js'
import { until } from '../../until.js'
import type { Person } from '../creators.js'

/** The mailer's batch. It sends to the mail server of the world (opened with `mail: true`). */
export function mailerBatch({ env, services }: World) {
  const mail = createSmtp({ url: env['SMTP_URL'] ?? '', from: env['MAIL_FROM'] ?? '' })
  return createMailerBatch({ ...as('mailer', services), mail })
}

/** Runs the mailer until the newest e-mail to this address is sent, by this batch or a concurrent one. Returns it. */
export async function deliverEmail(world: World, email: string): Promise<ReceivedMail> {
  await until(`the e-mail to ${email} is sent`, async () => {
    await runBatch(mailerBatch(world))
    const newest = await world.db('emails').where({ recipient: email }).orderBy('created_at', 'desc').first()
    return newest?.sent_at != null
  })
  const [mail] = world.mail.received(email)
  if (mail === undefined) throw new Error(`nothing arrived at ${email}`)
  return mail
}

/** Requests a one-time code and reads it from the received e-mail. */
export async function requestCode(world: World, { email }: Pick<Person, 'email'>): Promise<string> {
  const answer = await world.request('POST', '/auth/otp/start', { body: { email } })
  if (answer.status !== 200) throw new Error(`otp/start answered ${answer.status}`)
  await deliverEmail(world, email)
  // A notice may have arrived after it.
  const [code] = world.mail.received(email).flatMap(({ text }) => codeIn(text) ?? [])
  if (code === undefined) throw new Error(`no code was mailed to ${email}`)
  return code
}

/** Stores a known code that signs in, without an e-mail. */
export async function storeCode(
  { db, services }: World,
  { user }: Pick<Person, 'user'>,
  code: string,
): Promise<void> {
  await db('one_time_secrets').insert({
    purpose: 'sign_in_code',
    user_id: user.id,
    hash: codeHmac(services.config.otpPeppers[0], signInBound(user.id), code),
    expires_at: new Date(Date.now() + 600_000),
  })
}

/** A well-formed code that differs from this one, and for every `nth` below 999,999 from the others. */
export function wrongCode(code: string, nth = 1): string {
  return String((Number(code) + nth) % 1_000_000).padStart(6, '0')
}

/** The token of the newest link of one kind that was mailed to an address. Reads the queue, so no mail server is needed. */
export async function mailedToken({ db }: World, kind: string, recipient: string): Promise<string> {
  return /#[a-z-]+=([\w-]{43})$/m.exec(await queuedText(db, kind, recipient))?.[1] ?? ''
}

/** Requests a one-time code and reads it from the queue of mails. */
export async function queuedCode({ db, request }: World, email: string): Promise<string> {
  const answer = await request('POST', '/auth/otp/start', { body: { email } })
  if (answer.status !== 200) throw new Error(`otp/start answered ${answer.status}`)
  return codeInQueue({ db }, 'one-time-code', email)
}

/** The code in the newest queued mail of one kind to an address. Empty: there is none. */
export async function codeInQueue({ db }: Pick<World, 'db'>, kind: string, email: string): Promise<string> {
  return codeIn(await queuedText(db, kind, email)) ?? ''
}

export const stepUpCode = (world: Pick<World, 'db'>, email: string): Promise<string> =>
  codeInQueue(world, 'step-up-code', email)

async function queuedText(db: World['db'], kind: string, recipient: string): Promise<string> {
  return mailText(await db('emails').where({ kind, recipient }).orderBy('created_at', 'desc').first())
}
