import type { Draw } from '../../kit/draw.js'
import { done, type Outcome, type Scene } from './scene.js'
import { notMe, resetPassword, undoEmail, useResetLink } from './sign-in.js'
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
      const reaction = await this.#react(scene, mail, draw)
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
  async #react(scene: Scene, mail: Mail, draw: Draw): Promise<string | undefined> {
    const { owner } = scene
    switch (mail.kind) {
      case 'email-changed':
      case 'email-undo': {
        const undone = await undoEmail(scene, owner, draw)
        const reset = await useResetLink(scene, owner, draw)
        this.expect('useResetLink', reset ?? '')
        return `undo ${undone}, reset ${reset}`
      }
      case 'factor-added':
      case 'factor-removed':
        return `not me ${await notMe(scene, owner, draw)}`
      case 'password-changed': {
        if (draw.happens(0.5)) return `not me ${await notMe(scene, owner, draw)}`
        const reset = await resetPassword(scene, owner, draw)
        this.expect('resetPassword', reset ?? '')
        return `reset ${reset}`
      }
      case 'withdrawal-requested':
      case 'payee-added':
      case 'withdrawal-code':
        return draw.happens(0.5) ? `not me ${await notMe(scene, owner, draw)}` : undefined
      case 'new-device':
      case 'api-key-created':
      case 'email-change-requested':
        return draw.happens(0.3) ? `not me ${await notMe(scene, owner, draw)}` : undefined
      default:
        return undefined
    }
  }
}
