import { randomUUID } from 'node:crypto'
import { type Answer, at, call, observe, until } from './server.js'

export interface Person {
  readonly email: string
  readonly password: string
  readonly name: string
  readonly id: string
  readonly cookie: string
  readonly accessToken: string
  /** The answer to the registration. */
  readonly answer: Answer
}

export const password = 'correct horse battery'

export function freshEmail(): string {
  return `contract-${randomUUID()}@example.com`
}

/** Registers somebody new: no e-mail is verified, nothing is set. */
export async function register(
  changes: { readonly name?: string; readonly password?: string } = {},
): Promise<Person> {
  const person = { email: freshEmail(), password, name: 'Ada Obi', ...changes }
  const answer = await call('POST', '/auth/register', { body: person })
  if (answer.status !== 200) throw new Error(`register answered ${answer.status}: ${answer.text}`)
  return {
    ...person,
    id: String(at(answer.body, 'user', 'id')),
    cookie: answer.cookie,
    accessToken: String(at(answer.body, 'auth', 'accessToken')),
    answer,
  }
}

/** The person's wallet, which is null while it is provisioned. */
export function walletOf({ cookie }: Pick<Person, 'cookie'>): Promise<string> {
  return until('a wallet', 20, async () => {
    const { body } = await call('GET', '/auth/me', { cookie })
    const key = at(body, 'user', 'walletPublicKey')
    return typeof key === 'string' ? key : undefined
  })
}

/** A new creator with a wallet, and settings where some are given. */
export async function registerCreator(
  settings?: Readonly<Record<string, unknown>>,
): Promise<Person & { wallet: string }> {
  const person = await register()
  const wallet = await walletOf(person)
  if (settings !== undefined) {
    const answer = await call('PATCH', '/creators/me', { cookie: person.cookie, body: { settings } })
    if (answer.status !== 200) throw new Error(`settings answered ${answer.status}: ${answer.text}`)
  }
  return { ...person, wallet }
}

interface Mail {
  readonly subject: string
  readonly text: string
  readonly at: string
}

/** Mails to an address, newest first; waits until there are `count`. */
export function mailsTo(email: string, count = 1): Promise<Mail[]> {
  return until(`${count} mail(s) to ${email}`, 20, async () => {
    const mails = await observe<Mail[]>(`/dev/mail?to=${encodeURIComponent(email)}`)
    return mails.length >= count ? mails : undefined
  })
}

/** The code of the newest mail. */
export async function mailedCode(email: string, count = 1): Promise<string> {
  const [mail] = await mailsTo(email, count)
  const code = /\b\d{6}\b/.exec(mail?.text ?? '')?.[0]
  if (code === undefined) throw new Error(`no code in: ${mail?.text}`)
  return code
}

/** Six digits that are not the code. */
export function wrongCode(code: string): string {
  return String((Number(code) + 1) % 1_000_000).padStart(6, '0')
}
