import { randomBytes } from 'node:crypto'
import type { Draw } from '../../kit/draw.js'
import type { Person } from './person.js'
import { type Act, type Outcome, outcomeOf, type Scene, signedIn } from './scene.js'

// Acts that open the account, and that change its password and its e-mail.

/** A wrong token of the right form. */
const wrongToken = 'A'.repeat(43)

/** The addresses that the account may have, as far as this person knows. */
function guessedEmail({ owner, thief }: Scene, who: Person, draw: Draw): string {
  const known = who === owner ? owner.mailboxes : [...owner.mailboxes, ...thief.mailboxes]
  return draw.happens(0.7) ? who.email : (draw.one(known) ?? who.email)
}

export const login: Act = async (scene, who, draw) => {
  if (who.password === '') return undefined
  const email = guessedEmail(scene, who, draw)
  const answer = await who.call('POST', '/auth/login', { email, password: who.password, ...who.factor() })
  if (answer.status === 200) who.email = email
  // Who has tried a wrong password knows that it is of no use.
  if (answer.body['code'] === 'invalid_credentials' && draw.happens(0.5)) who.password = ''
  return outcomeOf(answer)
}

export const logInByCode: Act = (scene, who, draw) => logInByCodeAs(who, guessedEmail(scene, who, draw), draw)

export async function logInByCodeAs(who: Person, email: string, draw: Draw): Promise<Outcome> {
  const started = await who.call('POST', '/auth/otp/start', { email })
  if (started.status === 429) return logInByLink(who)
  if (started.status !== 200) return outcomeOf(started)
  const mails = await who.readMails()
  // Who cannot read the mail guesses.
  const code = mails.find(({ kind, to }) => kind === 'one-time-code' && to === email)?.code
  const guess = String(draw.whole(0, 999_999)).padStart(6, '0')
  const answer = await who.call('POST', '/auth/otp/verify', { email, code: code ?? guess, ...who.factor() })
  if (answer.status === 200) who.email = email
  return outcomeOf(answer)
}

/** While codes are locked the service mails a link instead. */
async function logInByLink(who: Person): Promise<Outcome> {
  const link = await who.findLink('sign-in')
  const answer = await who.call('POST', '/auth/otp/link', {
    token: link?.token ?? wrongToken,
    ...who.factor(),
  })
  if (answer.status === 200 && link !== undefined) {
    who.usedLinks.add(link.token)
    who.email = link.to
  }
  return outcomeOf(answer)
}

export const logout: Act = signedIn((_, who) => who.call('POST', '/auth/logout', {}))

export function newPassword(): string {
  return randomBytes(12).toString('base64url')
}

export const changePassword: Act = signedIn(async (_, who, draw) => {
  const proof = draw.happens(0.7) ? { currentPassword: who.password } : who.factor()
  const password = newPassword()
  const answer = await who.call('POST', '/auth/password', { ...proof, newPassword: password })
  if (answer.status === 200) who.password = password
  return answer
})

/** Asks for a link to reset the password of an address, and uses the newest one that this person can read. */
export const resetPassword: Act = (scene, who, draw) => resetPasswordOf(who, guessedEmail(scene, who, draw))

export async function resetPasswordOf(who: Person, email: string): Promise<Outcome> {
  const asked = await who.call('POST', '/auth/password/reset', { email })
  if (asked.status !== 200) return outcomeOf(asked)
  return openResetLink(who)
}

/** Also of a link that came without being asked for. */
export const useResetLink: Act = (_, who) => openResetLink(who)

async function openResetLink(who: Person): Promise<Outcome> {
  const link = await who.findLink('reset-password')
  const password = newPassword()
  const answer = await who.call('POST', '/auth/password/reset/confirm', {
    token: link?.token ?? wrongToken,
    newPassword: password,
  })
  if (answer.status === 200 && link !== undefined) {
    who.usedLinks.add(link.token)
    who.password = password
    who.email = link.to
  }
  return outcomeOf(answer)
}

export const changeEmail: Act = signedIn(async (_, who, draw) => {
  const others = who.mailboxes.filter((address) => address !== who.email)
  const email = draw.one(others) ?? who.email
  const proof = draw.happens(0.8) ? { password: who.password, ...who.factor() } : who.factor()
  return who.call('POST', '/auth/email', { email, ...proof })
})

/** Uses the newest link for a purpose that this person can read. */
function useLink(purpose: string, path: string, used: (who: Person, to: string) => void = () => {}): Act {
  return async (_, who) => {
    const link = await who.findLink(purpose)
    if (link === undefined) return undefined
    const answer = await who.call('POST', path, { token: link.token })
    who.usedLinks.add(link.token)
    if (answer.status === 200) used(who, link.to)
    return outcomeOf(answer)
  }
}

export const confirmEmail: Act = useLink('confirm-email', '/auth/email/confirm', (who, to) => {
  who.email = to
})

/** Takes a change of the e-mail back, with the link in the mail to the old address. */
export const undoEmail: Act = useLink('undo-email', '/auth/email/undo', (who, to) => {
  who.email = to
  who.password = ''
})

/** Freezes the account with the link of a mail. */
export const notMe: Act = useLink('not-me', '/auth/not-me')

export const freezeByGuess: Act = async (_, who) =>
  outcomeOf(await who.call('POST', '/auth/not-me', { token: wrongToken }))
