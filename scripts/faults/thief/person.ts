import { createHmac } from 'node:crypto'
import type { ApiAnswer as Answer } from '../../kit/client.js'
import type { Mail, Stage } from './stage.js'

export type { Answer }

/** A bank account of a person. */
export interface BankAccount {
  readonly bankCode: string
  readonly accountNumber: string
  readonly accountName: string
}

/** An authenticator app. */
interface Totp {
  readonly secret: string
  /** Codes of this step and earlier ones were used. Time that passes for the account moves it. */
  usedStep: number
}

const requestMs = 60_000
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'
const stepSeconds = 30

interface Browser {
  readonly network: string
  readonly userAgent: string
}

/** The owner or the thief: a browser, and what they know. */
export class Person {
  session: string | undefined
  device: string | undefined
  /** What they believe the account's password is. */
  password = ''
  /** What they believe the account's e-mail is. */
  email: string
  totp: Totp | undefined
  recoveryCodes: string[] = []
  readonly usedLinks = new Set<string>()
  /** Every session they ever had. */
  readonly sessions = new Set<string>()
  /** Answers that a server must never give. */
  readonly serverErrors: string[] = []
  readonly name: 'owner' | 'thief'
  readonly mailboxes: readonly string[]
  readonly accounts: readonly BankAccount[]
  readonly #stage: Stage
  readonly #browser: Browser
  #requests = 0

  constructor(stage: Stage, who: Pick<Person, 'name' | 'mailboxes' | 'accounts' | 'email'> & Browser) {
    this.#stage = stage
    this.name = who.name
    this.mailboxes = who.mailboxes
    this.accounts = who.accounts
    this.email = who.email
    this.#browser = { network: who.network, userAgent: who.userAgent }
  }

  /** Sends a request with the browser's cookies, to the web processes in turn. */
  async call(method: string, path: string, body?: unknown): Promise<Answer> {
    const { urls } = this.#stage
    this.#requests += 1
    const cookies = [
      ...(this.session === undefined ? [] : [`session=${this.session}`]),
      ...(this.device === undefined ? [] : [`device=${this.device}`]),
    ]
    const response = await fetch(`${urls[this.#requests % urls.length]}${path}`, {
      method,
      headers: {
        'content-type': 'application/json',
        'user-agent': this.#browser.userAgent,
        'x-forwarded-for': this.#browser.network,
        ...(cookies.length === 0 ? {} : { cookie: cookies.join('; ') }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(requestMs),
    })
    const answer = (await response.json()) as Answer['body']
    this.#keepCookies(response.headers.getSetCookie())
    if (answer['code'] === 'unauthorized') this.session = undefined
    if (response.status === 500)
      this.serverErrors.push(`${method} ${path} answered 500 ${String(answer['error'])}`)
    return { status: response.status, body: answer }
  }

  /** Whether a session cookie still opens the account. */
  async opens(session: string): Promise<boolean> {
    const response = await fetch(`${this.#stage.urls[0]}/auth/me`, {
      headers: { cookie: `session=${session}` },
    })
    await response.arrayBuffer()
    return response.status === 200
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
    if (this.totp !== undefined) {
      const now = Math.floor(Date.now() / 1000 / stepSeconds)
      // Not the step before: it may be over when the request is answered.
      const step = Math.max(now, this.totp.usedStep + 1)
      if (step <= now + 1) {
        this.totp.usedStep = step
        return { totp: codeAt(this.totp.secret, step) }
      }
    }
    const code = this.recoveryCodes.pop()
    return code === undefined ? {} : { totp: code }
  }

  /** Time has passed for the account: the codes of the last minutes are used no more. */
  forgetUsedCodes(): void {
    if (this.totp !== undefined) this.totp.usedStep = 0
  }

  keepRecoveryCodes({ body }: Answer): void {
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

/** RFC 6238 with six digits and SHA-1, written from the standard and not from the service's code. */
function codeAt(secret: string, step: number): string {
  const bits = [...secret].map((char) => alphabet.indexOf(char).toString(2).padStart(5, '0')).join('')
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2))
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', Buffer.from(bytes)).update(counter).digest()
  const number = digest.readUInt32BE((digest.at(-1) ?? 0) & 15) & 0x7fffffff
  return String(number % 1_000_000).padStart(6, '0')
}
