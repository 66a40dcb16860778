import type { ApiAnswer } from '../../kit/client.js'
import type { Draw } from '../../kit/draw.js'
import { done, notMe, type Outcome, resetPassword, type Scene, undoEmail, useResetLink } from './acts.js'
import type { Mail } from './stage.js'

/** The mail that each own act brings. */
const mailOf: Readonly<Record<string, readonly string[]>> = {
  login: ['new-device'],
  logInByCode: ['new-device', 'email-proven'],
  changePassword: ['password-changed'],
  resetPassword: ['password-changed'],
  useResetLink: ['password-changed'],
  addTotp: ['factor-added'],
  removeTotp: ['factor-removed'],
  makeApiKey: ['api-key-created'],
}
/** How often the owner freezes the account for a mail of this kind, which is not about an own act. */
const noticed: Readonly<Record<string, number>> = {
  'factor-added': 1,
  'factor-removed': 1,
  'withdrawal-requested': 0.5,
  'payee-added': 0.5,
  'withdrawal-code': 0.5,
  'new-device': 0.3,
  'api-key-created': 0.3,
  'email-change-requested': 0.3,
}
/** After this time the locks of wrong codes have ended. */
const lockHours = 0.5

export interface Reaction {
  /** Of the mail. */
  readonly kind: string
  readonly reaction: Outcome
}

/** How owners read their mail: they know what they did themselves, and act on the rest. */
export class Reader {
  readonly #seen = new Set<string>()
  readonly #expected = new Map<string, number>()

  /** The owner did something. */
  expect(act: string, outcome: Outcome): void {
    if (outcome !== done) return
    for (const kind of mailOf[act] ?? []) this.#expected.set(kind, (this.#expected.get(kind) ?? 0) + 1)
  }

  /** Reads what is new, oldest first. Returns what the owner did about it. */
  async read(scene: Scene, draw: Draw): Promise<readonly Reaction[]> {
    const mails = await scene.owner.readMails()
    const news = mails.filter(({ id }) => !this.#seen.has(id)).reverse()
    const reactions: Reaction[] = []
    for (const mail of news) {
      this.#seen.add(mail.id)
      if (!this.#isForeign(scene, mail)) continue
      const reaction = await this.#react(scene, mail.kind, draw)
      if (reaction !== undefined) reactions.push({ kind: mail.kind, reaction })
    }
    return reactions
  }

  #isForeign({ owner }: Scene, { kind, text }: Mail): boolean {
    const words = text.replace(/\s+/g, ' ')
    if (kind.startsWith('email-') && kind !== 'email-proven')
      return !owner.mailboxes.some((address) => words.includes(address))
    if (/^(withdrawal|payee)-/.test(kind))
      return !owner.accounts.some(({ accountNumber }) => words.includes(`******${accountNumber.slice(-4)}`))
    const expected = this.#expected.get(kind) ?? 0
    if (expected > 0) this.#expected.set(kind, expected - 1)
    return expected === 0
  }

  /** A change of the e-mail, of the password or of a factor is always noticed, the rest sometimes. */
  async #react({ owner }: Scene, kind: string, draw: Draw): Promise<string | undefined> {
    if (kind === 'email-changed' || kind === 'email-undo') {
      const undone = await undoEmail(owner)
      const reset = await useResetLink(owner)
      this.expect('useResetLink', reset)
      return `undo ${undone}, reset ${reset}`
    }
    if (kind === 'password-changed' && draw.happens(0.5)) {
      const reset = await resetPassword(owner, [owner.email])
      this.expect('resetPassword', reset)
      return `reset ${reset}`
    }
    const isNoticed = kind === 'password-changed' || draw.happens(noticed[kind] ?? 0)
    return isNoticed ? `not me ${await notMe(owner)}` : undefined
  }
}

/** Lets time pass for the account. */
export async function pass({ stage, userId, owner, thief }: Scene, hours: number): Promise<void> {
  await stage.age(userId, hours)
  // The codes of the last minutes are used no more.
  for (const { totp } of [owner, thief]) if (totp !== undefined) totp.usedStep = 0
}

/** An operator does something to the account. */
export async function command({ stage, userId }: Scene, name: string): Promise<void> {
  const sure = name === 'unfreeze' ? ['--send-waiting', '--void-password'] : []
  const args = ['--user', userId, '--reason', 'The owner has called', '--apply', ...sure]
  const { code, out, err } = await stage.commands.run(name, args)
  if (code !== 0) throw new Error(`${name} ended with ${code}: ${out}${err}`)
}

/**
 * The owner takes the account back: by the mailbox, and by an operator where it is frozen or has a factor that is not theirs.
 * Throws when that fails.
 */
export async function recover(
  scene: Scene,
  reader: Reader,
  draw: Draw,
  tell: (text: string) => void,
): Promise<void> {
  const { owner } = scene
  await pass(scene, lockHours)
  for (const { kind, reaction } of await reader.read(scene, draw))
    tell(`owner reacts to ${kind}: ${reaction}`)
  // The account has one of the owner's addresses now. Nobody is told which, so each is asked for.
  const reset = async (when: string): Promise<void> => {
    const outcome = await resetPassword(owner, owner.mailboxes)
    tell(`owner resets the password${when}: ${outcome}`)
    if (outcome !== done) throw new Error(`the owner cannot reset the password by mail${when}: ${outcome}`)
  }
  const enter = async (when: string): Promise<ApiAnswer> => {
    const { email, password } = owner
    const answer = await owner.call('POST', '/auth/login', { email, password, ...owner.factor() })
    tell(`owner logs in${when}: ${answer.status} ${String(answer.body['code'] ?? '')}`)
    return answer
  }
  const require = ({ status, body }: ApiAnswer, what: string): void => {
    if (status !== 200) throw new Error(`the owner cannot ${what}: ${status} ${JSON.stringify(body)}`)
  }
  await reset('')
  let answer = await enter('')
  // A factor that the owner does not have, or a code of one that is not in force any more.
  if (['second_factor_required', 'invalid_code'].includes(String(answer.body['code']))) {
    await command(scene, 'remove-factors')
    owner.forgetFactors()
    answer = await enter(' after an operator removed the factors')
  }
  require(answer, 'log in')
  const security = await owner.call('GET', '/auth/security')
  require(security, 'read what protects the account')
  if (security.body['frozenAt'] !== null) {
    await command(scene, 'unfreeze')
    await pass(scene, lockHours)
    await reset(' after an operator unfroze the account')
    require(await enter(' after an operator unfroze the account'), 'log in after the unfreezing')
  }
  require(await owner.call('DELETE', '/auth/sessions'), 'end the other sessions')
  await checkThiefIsOut(scene)
}

/** Nothing that the thief has opens the account any more. */
async function checkThiefIsOut({ owner, thief }: Scene): Promise<void> {
  for (const session of thief.sessions)
    if (!owner.sessions.has(session) && (await thief.opens(session)))
      throw new Error('a session of the thief still opens the account')
  for (const email of [...owner.mailboxes, ...thief.mailboxes]) {
    const body = { email, password: thief.password, ...thief.factor() }
    const { status } = await thief.call('POST', '/auth/login', body)
    if (status === 200) throw new Error('the password of the thief still opens the account')
  }
}
