import { randomBytes } from 'node:crypto'
import type { ApiAnswer } from '../../kit/client.js'
import type { Draw } from '../../kit/draw.js'
import type { BankAccount, Person } from './person.js'
import type { Stage } from './stage.js'

/** An account, its owner, and a thief. */
export interface Scene {
  readonly stage: Stage
  readonly userId: string
  readonly owner: Person
  readonly thief: Person
}

/** Somebody does something. Undefined: there was nothing to do it with. */
export type Act = (scene: Scene, who: Person, draw: Draw) => Promise<Outcome | undefined>

/** `done`, or the status and code of the refusal. */
export type Outcome = string

export const done: Outcome = 'done'
/** A wrong token of the right form. */
const wrongToken = 'A'.repeat(43)

export function outcomeOf({ status, body }: ApiAnswer): Outcome {
  return status === 200 ? done : `${status} ${String(body['code'] ?? '')}`.trim()
}

/** An act of whoever has a session. */
function signedIn(
  act: (who: Person, draw: Draw, scene: Scene) => Promise<ApiAnswer | Outcome | undefined>,
): Act {
  return async (scene, who, draw) => {
    if (who.session === undefined) return undefined
    const answer = await act(who, draw, scene)
    return typeof answer === 'object' ? outcomeOf(answer) : answer
  }
}

/** The rows of a list, or how it was refused. */
async function listOf<Row>(who: Person, path: string, name: string): Promise<readonly Row[] | Outcome> {
  const answer = await who.call('GET', path)
  return answer.status === 200 ? (answer.body[name] as readonly Row[]) : outcomeOf(answer)
}

/** Removes every row of a list. */
function removeAll(path: string, name: string): Act {
  return signedIn(async (who) => {
    const rows = await listOf<{ readonly id: string | number }>(who, path, name)
    if (typeof rows === 'string') return rows
    for (const { id } of rows) {
      const answer = await who.call('DELETE', `${path}/${id}`)
      if (answer.status !== 200) return answer
    }
    return done
  })
}

/** The addresses that the account may have, as far as this person knows. */
function guessedEmail({ owner, thief }: Scene, who: Person, draw: Draw): string {
  const known = who === owner ? owner.mailboxes : [...owner.mailboxes, ...thief.mailboxes]
  return draw.happens(0.7) ? who.email : (draw.one(known) ?? who.email)
}

const guessedCode = (draw: Draw): string => String(draw.whole(0, 999_999)).padStart(6, '0')

const login: Act = async (scene, who, draw) => {
  if (who.password === '') return undefined
  const email = guessedEmail(scene, who, draw)
  const answer = await who.call('POST', '/auth/login', { email, password: who.password, ...who.factor() })
  if (answer.status === 200) who.email = email
  // Who has tried a wrong password knows that it is of no use.
  if (answer.body['code'] === 'invalid_credentials' && draw.happens(0.5)) who.password = ''
  return outcomeOf(answer)
}

export async function logInByCode(who: Person, email: string, draw: Draw): Promise<Outcome> {
  const started = await who.call('POST', '/auth/otp/start', { email })
  if (started.status === 429) return logInByLink(who)
  if (started.status !== 200) return outcomeOf(started)
  const mails = await who.readMails()
  // Who cannot read the mail guesses.
  const code = mails.find(({ kind, to }) => kind === 'one-time-code' && to === email)?.code
  const body = { email, code: code ?? guessedCode(draw), ...who.factor() }
  const answer = await who.call('POST', '/auth/otp/verify', body)
  if (answer.status === 200) who.email = email
  return outcomeOf(answer)
}

/** While codes are locked the service mails a link instead. */
async function logInByLink(who: Person): Promise<Outcome> {
  const link = await who.findLink('sign-in')
  const body = { token: link?.token ?? wrongToken, ...who.factor() }
  const answer = await who.call('POST', '/auth/otp/link', body)
  if (answer.status === 200 && link !== undefined) {
    who.usedLinks.add(link.token)
    who.email = link.to
  }
  return outcomeOf(answer)
}

export function newPassword(): string {
  return randomBytes(12).toString('base64url')
}

const changePassword: Act = signedIn(async (who, draw) => {
  const proof = draw.happens(0.7) ? { currentPassword: who.password } : who.factor()
  const password = newPassword()
  const answer = await who.call('POST', '/auth/password', { ...proof, newPassword: password })
  if (answer.status === 200) who.password = password
  return answer
})

/** Asks for a link to reset the password of these addresses, and uses the newest one that this person can read. */
export async function resetPassword(who: Person, emails: readonly string[]): Promise<Outcome> {
  for (const email of emails) {
    const asked = await who.call('POST', '/auth/password/reset', { email })
    if (asked.status !== 200) return outcomeOf(asked)
  }
  return useResetLink(who)
}

/** Also of a link that came without being asked for. */
export async function useResetLink(who: Person): Promise<Outcome> {
  const link = await who.findLink('reset-password')
  const password = newPassword()
  const body = { token: link?.token ?? wrongToken, newPassword: password }
  const answer = await who.call('POST', '/auth/password/reset/confirm', body)
  if (answer.status === 200 && link !== undefined) {
    who.usedLinks.add(link.token)
    who.password = password
    who.email = link.to
  }
  return outcomeOf(answer)
}

const changeEmail: Act = signedIn(async (who, draw) => {
  const others = who.mailboxes.filter((address) => address !== who.email)
  const email = draw.one(others) ?? who.email
  const proof = draw.happens(0.8) ? { password: who.password, ...who.factor() } : who.factor()
  return who.call('POST', '/auth/email', { email, ...proof })
})

/** Uses the newest link for a purpose that this person can read. */
async function useLink(
  who: Person,
  purpose: string,
  path: string,
): Promise<[Outcome, to: string] | undefined> {
  const link = await who.findLink(purpose)
  if (link === undefined) return undefined
  const answer = await who.call('POST', path, { token: link.token })
  who.usedLinks.add(link.token)
  return [outcomeOf(answer), link.to]
}

export async function confirmEmail(who: Person): Promise<Outcome | undefined> {
  const [outcome, to = ''] = (await useLink(who, 'confirm-email', '/auth/email/confirm')) ?? []
  if (outcome === done) who.email = to
  return outcome
}

/** Takes a change of the e-mail back, with the link in the mail to the old address. */
export async function undoEmail(who: Person): Promise<Outcome | undefined> {
  const [outcome, to = ''] = (await useLink(who, 'undo-email', '/auth/email/undo')) ?? []
  if (outcome === done) {
    who.email = to
    who.password = ''
  }
  return outcome
}

/** Freezes the account with the link of a mail. */
export async function notMe(who: Person): Promise<Outcome | undefined> {
  return (await useLink(who, 'not-me', '/auth/not-me'))?.[0]
}

export const addTotp: Act = signedIn(async (who) => {
  const started = await who.call('POST', '/auth/totp', who.factor())
  if (started.status !== 200) return started
  const earlier = who.totp
  who.totp = { secret: String(started.body['secret']), usedStep: 0 }
  const answer = await who.call('POST', '/auth/totp/confirm', { code: who.factor().totp })
  if (answer.status !== 200) who.totp = earlier
  who.keepRecoveryCodes(answer)
  return answer
})

const removeTotp: Act = signedIn(async (who) => {
  const answer = await who.call('DELETE', '/auth/totp', who.factor())
  if (answer.status === 200) who.forgetFactors()
  return answer
})

const renewRecoveryCodes: Act = signedIn(async (who) => {
  if (who.totp === undefined) return undefined
  const answer = await who.call('POST', '/auth/recovery-codes', who.factor())
  who.keepRecoveryCodes(answer)
  return answer
})

const endOneSession: Act = signedIn(async (who, draw) => {
  const sessions = await listOf<{ id: string; current: boolean }>(who, '/auth/sessions', 'sessions')
  if (typeof sessions === 'string') return sessions
  const other = draw.one(sessions.filter(({ current }) => !current))
  return other === undefined ? undefined : who.call('DELETE', `/auth/sessions/${other.id}`)
})

export const makeApiKey: Act = signedIn((who) => who.call('POST', '/creators/api-keys', { label: who.name }))

/** To one of these accounts. */
function withdrawTo(accountsOf: (who: Person, scene: Scene) => readonly BankAccount[]): Act {
  return signedIn(async (who, draw, scene) => {
    const account = draw.one(accountsOf(who, scene))
    if (account === undefined) return undefined
    const amountUSDC = draw.whole(100, 400) / 100
    const answer = await who.call('POST', '/payouts/withdraw', { ...account, amountUSDC })
    if (answer.status !== 200) return answer
    const heldFor = answer.body['heldFor'] ?? undefined
    return heldFor === undefined ? 'sent' : `held for ${heldFor}`
  })
}

interface HistoryRow {
  readonly reference: string
  readonly status: string
  readonly accountNumber: string
  readonly heldFor?: string | null
}

/** Does something to an open withdrawal. */
function toOpen(
  what: string,
  isWanted: (row: HistoryRow, who: Person, scene: Scene) => boolean,
  bodyFor: (row: HistoryRow, who: Person, draw: Draw) => Promise<object> = async () => ({}),
): Act {
  return signedIn(async (who, draw, scene) => {
    const rows = await listOf<HistoryRow>(who, '/payouts/history', 'payouts')
    if (typeof rows === 'string') return rows
    const row = draw.one(rows.filter((one) => one.status === 'pending' && isWanted(one, who, scene)))
    if (row === undefined) return undefined
    return who.call('POST', `/payouts/${row.reference}/${what}`, await bodyFor(row, who, draw))
  })
}

/** Owners confirm what goes to an account of theirs. A thief confirms everything. */
function wouldConfirm({ heldFor, accountNumber }: HistoryRow, who: Person, { owner }: Scene): boolean {
  const isOwn = owner.accounts.some((own) => own.accountNumber.slice(-4) === accountNumber.slice(-4))
  return heldFor === 'confirmation' && (who !== owner || isOwn)
}

/** With the mailed code if they can read it, else an own factor, else a guess. */
export const confirm: Act = toOpen('confirm', wouldConfirm, async ({ reference }, who, draw) => {
  const mails = await who.readMails()
  const mailed = mails.find(
    ({ kind, text }) => kind === 'withdrawal-code' && text.replace(/\s+/g, ' ').includes(reference),
  )
  const { totp } = draw.happens(0.3) || mailed === undefined ? who.factor() : {}
  return totp === undefined ? { code: mailed?.code ?? guessedCode(draw) } : { totp }
})

/** Each act, and how often the owner and the thief choose it. */
const acts = {
  login: [login, 6, 5],
  logInByCode: [(scene, who, draw) => logInByCode(who, guessedEmail(scene, who, draw), draw), 4, 2],
  logout: [signedIn((who) => who.call('POST', '/auth/logout', {})), 1, 0],
  changePassword: [changePassword, 2, 2],
  resetPassword: [(scene, who, draw) => resetPassword(who, [guessedEmail(scene, who, draw)]), 2, 2],
  useResetLink: [(_, who) => useResetLink(who), 0, 1],
  changeEmail: [changeEmail, 2, 5],
  confirmEmail: [(_, who) => confirmEmail(who), 3, 6],
  undoEmail: [(_, who) => undoEmail(who), 0.5, 2],
  notMe: [(_, who) => notMe(who), 0.3, 0.3],
  freezeByGuess: [
    async (_, who) => outcomeOf(await who.call('POST', '/auth/not-me', { token: wrongToken })),
    0,
    0.3,
  ],
  addTotp: [addTotp, 2, 4],
  removeTotp: [removeTotp, 1, 1],
  renewRecoveryCodes: [renewRecoveryCodes, 0.5, 1],
  endOneSession: [endOneSession, 1, 1],
  endOtherSessions: [signedIn((who) => who.call('DELETE', '/auth/sessions')), 1.5, 1.5],
  makeApiKey: [makeApiKey, 1, 1],
  revokeApiKeys: [removeAll('/creators/api-keys', 'apiKeys'), 0.5, 0],
  // The first account of the owner's has had a withdrawal before.
  withdrawToOwn: [withdrawTo(({ accounts }) => accounts), 6, 8],
  // To hide another withdrawal among these.
  withdrawToOwner: [withdrawTo((_, { owner }) => owner.accounts.slice(0, 1)), 0, 1],
  confirm: [confirm, 5, 8],
  resendCode: [toOpen('confirm/resend', wouldConfirm), 1, 1],
  cancel: [toOpen('cancel', () => true), 1.5, 1],
  removePayees: [removeAll('/creators/payees', 'payees'), 0.7, 0.7],
} as const satisfies Readonly<Record<string, readonly [Act, owner: number, thief: number]>>

export interface NamedAct {
  readonly name: keyof typeof acts
  readonly act: Act
}
type Weights = Readonly<Record<NamedAct['name'], number>>

const weightsAt = (place: 1 | 2): Weights =>
  Object.fromEntries(Object.entries(acts).map(([name, one]) => [name, one[place]])) as Weights
const weights = { owner: weightsAt(1), thief: weightsAt(2) }
const signInActs = { login: 3, logInByCode: 1 } as Weights

/** Who is signed out mostly signs in. */
export function chooseAct(who: Person, draw: Draw): NamedAct {
  const signsIn = who.session === undefined && draw.happens(0.6)
  const name = draw.kind(signsIn ? signInActs : weights[who.name])
  return { name, act: acts[name][0] }
}
