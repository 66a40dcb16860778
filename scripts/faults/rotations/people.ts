import { waitUntil } from '../../dev/wait-until.js'
import type { Sandbox } from '../../sandbox/server.js'
import { register } from '../client.js'

const mailMs = 60_000
const addresses = 40
const requestMs = 30_000

interface Answer {
  readonly status: number
  readonly text: string
}

/** Payers in naira, whose addresses are sealed, and creators who sign in with mailed codes. Nothing is repeated. */
export class People {
  requests = 0
  readonly faults: string[] = []
  /** The addresses of payers whose intents were answered 200. */
  readonly payers = new Set<string>()
  readonly #url: string
  readonly #sandbox: Sandbox
  #accounts = 0
  #stopped = false
  #payments: Promise<void> = Promise.resolve()

  constructor(url: string, sandbox: Sandbox) {
    this.#url = url
    this.#sandbox = sandbox
  }

  /** Makes naira intents, one after the other. */
  async start(): Promise<void> {
    const { userId } = await register(this.#url, 'creator@example.com')
    this.#payments = this.#pay(userId)
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#payments
  }

  /** Has a code mailed to a new account. Returns how to sign in with it. */
  async mailCode(): Promise<() => Promise<boolean>> {
    this.#accounts += 1
    const email = `person-${this.#accounts}@example.com`
    await register(this.#url, email)
    await this.#expect('a code is mailed', '/auth/otp/start', { email })
    const find = () =>
      this.#sandbox.mail
        .received(email)
        .map(({ text }) => /^ {4}([0-9]{6})$/m.exec(text)?.[1])
        .find((code) => code !== undefined)
    if (!(await waitUntil(() => find() !== undefined, mailMs))) this.faults.push(`no code came to ${email}`)
    return () => this.#expect('the code signs in', '/auth/otp/verify', { email, code: find() })
  }

  async #pay(creatorId: string): Promise<void> {
    for (let turn = 0; !this.#stopped; turn++) {
      const payerEmail = `payer-${turn % addresses}@example.com`
      const body = { creatorId, amount: 10, payerEmail, senderName: 'Bola' }
      if (await this.#expect('a naira intent', '/payments/fiat/intent', body)) this.payers.add(payerEmail)
    }
  }

  async #expect(what: string, path: string, body: object): Promise<boolean> {
    this.requests += 1
    const { status, text } = await this.#post(path, body).catch((error) => ({
      status: 0,
      text: String(error),
    }))
    if (status !== 200)
      this.faults.push(`${new Date().toISOString()} ${what}: ${status} ${text.slice(0, 200)}`)
    return status === 200
  }

  async #post(path: string, body: object): Promise<Answer> {
    const response = await fetch(`${this.#url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(requestMs),
    })
    return { status: response.status, text: await response.text() }
  }
}
