import { codeAt, stepAt } from '../../../src/accounts/factors/totp.js'
import { type ApiAnswer, type ApiRequest, requestOnce } from '../../kit/client.js'
import type { Mail, Stage } from './stage.js'

/** A bank account of a person. */
export interface BankAccount {
  readonly bankCode: string
  readonly accountNumber: string
  readonly accountName: string
}

interface Who {
  readonly name: 'owner' | 'thief'
  /** The account's e-mail is the first one of the owner's at the beginning. */
  readonly mailboxes: readonly string[]
  readonly accounts: readonly BankAccount[]
  readonly network: string
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'

/** The owner or the thief: a browser, and what they know or believe. */
export class Person {
  readonly name: Who['name']
  readonly mailboxes: readonly string[]
  readonly accounts: readonly BankAccount[]
  session: string | undefined
  device: string | undefined
  /** What they believe the account's password is. */
  password = ''
  /** What they believe the account's e-mail is. */
  email: string
  /** The secret of their authenticator app, and the step up to which its codes were used. Time that passes for the account resets it. */
  totp: { readonly secret: string; usedStep: number } | undefined
  recoveryCodes: string[] = []
  readonly usedLinks = new Set<string>()
  /** Every session they ever had. */
  readonly sessions = new Set<string>()
  /** Answers that a server must never give. */
  readonly serverErrors: string[] = []
  readonly #stage: Stage
  readonly #network: string
  #requests = 0

  constructor(stage: Stage, { name, mailboxes, accounts, network }: Who, email: string) {
    this.#stage = stage
    this.#network = network
    this.name = name
    this.mailboxes = mailboxes
    this.accounts = accounts
    this.email = email
  }

  /** Sends a request with the browser's cookies, to the web processes in turn. */
  async call(method: ApiRequest[0], path: string, body?: unknown): Promise<ApiAnswer> {
    const { webUrls } = this.#stage
    this.#requests += 1
    const cookies = Object.entries({ session: this.session, device: this.device })
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => `${name}=${value}`)
    const answer = await requestOnce(webUrls[this.#requests % webUrls.length] ?? '', [method, path, body], {
      'user-agent': `${this.name}/1.0`,
      'x-forwarded-for': this.#network,
      ...(cookies.length === 0 ? {} : { cookie: cookies.join('; ') }),
    })
    if (answer.status === 0) throw new Error(`${method} ${path} was not answered`)
    this.#keepCookies(answer.cookies)
    if (answer.body['code'] === 'unauthorized') this.session = undefined
    if (answer.status === 500)
      this.serverErrors.push(`${method} ${path} answered 500 ${String(answer.body['error'])}`)
    return answer
  }

  /** Whether a session cookie still opens the account. */
  async opens(session: string): Promise<boolean> {
    const [url = ''] = this.#stage.webUrls
    const { status } = await requestOnce(url, ['GET', '/auth/me'], { cookie: `session=${session}` })
    return status === 200
  }

  readMails(): Promise<Mail[]> {
    return this.#stage.readMails(this.mailboxes)
  }

  /** The newest unused link for a purpose in the own mailboxes. */
  async findLink(purpose: string): Promise<{ token: string; to: string } | undefined> {
    for (const { links, to } of await this.readMails()) {
      const token = links.get(purpose)
      if (token !== undefined && !this.usedLinks.has(token)) return { token, to }
    }
    return undefined
  }

  /** What the second factor of a request is: a code of the app, else a recovery code. */
  factor(): { totp?: string } {
    const now = stepAt(Date.now() / 1000)
    if (this.totp !== undefined && this.totp.usedStep <= now) {
      // Not the step before: it may be over when the request is answered.
      this.totp.usedStep = Math.max(now, this.totp.usedStep + 1)
      return { totp: codeAt(bytesOf(this.totp.secret), this.totp.usedStep) }
    }
    const code = this.recoveryCodes.pop()
    return code === undefined ? {} : { totp: code }
  }

  keepRecoveryCodes({ body }: ApiAnswer): void {
    const codes = body['recoveryCodes']
    if (Array.isArray(codes)) this.recoveryCodes = codes.map(String)
  }

  /** The factors are removed. */
  forgetFactors(): void {
    this.totp = undefined
    this.recoveryCodes = []
  }

  #keepCookies(lines: readonly string[]): void {
    for (const line of lines) {
      const [, name = '', value = ''] = /^(\w+)=([^;]*)/.exec(line) ?? []
      if (name === 'device') this.device = value
      if (name !== 'session') continue
      this.session = value === '' ? undefined : value
      if (value !== '') this.sessions.add(value)
    }
  }
}

/** The bytes of a secret in base32. */
function bytesOf(secret: string): Uint8Array {
  const bits = [...secret].map((char) => alphabet.indexOf(char).toString(2).padStart(5, '0')).join('')
  return Uint8Array.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)))
}
