import { createHmac } from 'node:crypto'
import { type ClientRequest, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { Behaviour } from './behaviour.js'

/** The provider tries for three days; a stand-in's user has not the time. */
const attemptsMax = 6
const firstRetryMs = 1000
const answerMs = 10_000
const deliveriesKept = 1000

/** One webhook on its way: the last status it met (null: no answer), and when it was taken with a 200. */
export interface Delivery {
  readonly event: string
  readonly reference: string
  attempts: number
  status: number | null
  takenAt: string | null
}

/**
 * Tells the service what happened, as the provider does: signed with the secret key over the bytes sent, again with
 * growing pauses until it answers 200, and never waited for. In memory: a stand-in that dies tells no more.
 */
export class Webhooks {
  #url: string | undefined
  readonly #secretKey: string
  readonly #behaviour: Behaviour
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #requests = new Set<ClientRequest>()
  #deliveries: Delivery[] = []

  constructor(secretKey: string, behaviour: Behaviour, url: string | undefined) {
    this.#secretKey = secretKey
    this.#behaviour = behaviour
    this.#url = url
  }

  /** From now on webhooks go to this URL; undefined: nowhere. */
  sendTo(url: string | undefined): void {
    this.#url = url
  }

  /** Sends an event as often and as late as the faults say, once and at once without any. */
  announce(event: string, data: { readonly reference: string }): void {
    const {
      copies = 1,
      delayMs = 0,
      badSignature = false,
    } = this.#behaviour.fault(data.reference).webhooks ?? {}
    const body = Buffer.from(JSON.stringify({ event, data }))
    const signature = createHmac('sha512', badSignature ? 'another key' : this.#secretKey)
      .update(body)
      .digest('hex')
    for (let copy = 0; copy < copies; copy++) {
      const delivery = { event, reference: data.reference, attempts: 0, status: null, takenAt: null }
      this.#deliveries = [...this.#deliveries, delivery].slice(-deliveriesKept)
      this.#later(delayMs, () => this.#deliver(delivery, body, signature))
    }
  }

  /** The newest deliveries, oldest first. */
  deliveries(): readonly Delivery[] {
    return this.#deliveries
  }

  /** Gives up whatever is on its way. */
  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    for (const request of this.#requests) request.destroy()
    this.#timers.clear()
    this.#deliveries = []
  }

  #later(milliseconds: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, milliseconds)
    this.#timers.add(timer)
  }

  #deliver(delivery: Delivery, body: Buffer, signature: string): void {
    if (this.#url === undefined) return
    delivery.attempts += 1
    const headers = { 'content-type': 'application/json', 'x-paystack-signature': signature }
    const request = this.#post(this.#url, headers, body, (status) => {
      this.#requests.delete(request)
      delivery.status = status
      if (status === 200) delivery.takenAt = new Date().toISOString()
      else if (delivery.attempts < attemptsMax && this.#deliveries.includes(delivery))
        this.#later(firstRetryMs * 2 ** (delivery.attempts - 1), () =>
          this.#deliver(delivery, body, signature),
        )
    })
    this.#requests.add(request)
  }

  /** Plain `node:http` without kept-alive connections, which would look like leaks to tests. */
  #post(
    url: string,
    headers: Readonly<Record<string, string>>,
    body: Buffer,
    done: (status: number | null) => void,
  ): ClientRequest {
    const send = url.startsWith('https:') ? httpsRequest : httpRequest
    const request = send(url, { method: 'POST', headers, agent: false, timeout: answerMs })
    let status: number | null = null
    request.on('response', (response) => {
      status = response.statusCode ?? null
      response.on('error', () => undefined).resume()
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => undefined)
    request.on('close', () => done(status))
    return request.end(body)
  }
}
