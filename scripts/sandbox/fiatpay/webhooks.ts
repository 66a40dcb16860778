import { createHmac } from 'node:crypto'
import { type ClientRequest, request as httpRequest } from 'node:http'
import { request as httpsRequest } from 'node:https'
import type { FiatpayFaults } from './faults.js'

/** Fewer than at the provider, which retries for three days. */
const attemptsMax = 6
const firstRetryMs = 1000
const answerMs = 10_000

/**
 * Sends webhooks to the service as the provider does: signed with the secret key over the bytes sent, and repeated with
 * growing pauses until the service answers 200. Deliveries are only in memory: a killed stand-in sends no more.
 */
export class Webhooks {
  readonly secretKey: string
  #url: string | undefined
  readonly #faults: FiatpayFaults
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #requests = new Set<ClientRequest>()

  constructor(secretKey: string, faults: FiatpayFaults, url: string | undefined) {
    this.secretKey = secretKey
    this.#faults = faults
    this.#url = url
  }

  /** Sets where further webhooks go. `undefined`: none are sent. */
  setUrl(url: string | undefined): void {
    this.#url = url
  }

  /**
   * Sends an event about a charge or a transfer. Without a fault it is sent once and immediately. Does not wait for the
   * answer.
   */
  send(event: string, data: { readonly reference: string }): void
  send(event: string, data: object, reference: string): void
  send(event: string, data: { readonly reference?: string }, reference = data.reference ?? ''): void {
    if (this.#faults.mode.webhooks === 'off') return
    const { copies = 1, delayMs = 0, badSignature = false } = this.#faults.faultFor(reference).webhooks ?? {}
    const body = Buffer.from(JSON.stringify({ event, data }))
    const signature = createHmac('sha512', badSignature ? 'another key' : this.secretKey)
      .update(body)
      .digest('hex')
    for (let copy = 0; copy < copies; copy++) this.#later(delayMs, () => this.#deliver(body, signature))
  }

  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    for (const request of this.#requests) request.destroy()
    this.#timers.clear()
    this.#requests.clear()
  }

  #later(milliseconds: number, act: () => void): void {
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      act()
    }, milliseconds)
    this.#timers.add(timer)
  }

  #deliver(body: Buffer, signature: string, attempt = 1): void {
    if (this.#url === undefined) return
    const headers = { 'content-type': 'application/json', 'x-paystack-signature': signature }
    const send = this.#url.startsWith('https:') ? httpsRequest : httpRequest
    // Without keep-alive, because tests would report pooled connections as leaks.
    const request = send(this.#url, { method: 'POST', headers, agent: false, timeout: answerMs })
    let status: number | null = null
    request.on('response', (response) => {
      status = response.statusCode ?? null
      response.on('error', () => undefined).resume()
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => undefined)
    request.on('close', () => {
      // One that was cancelled is not repeated.
      if (!this.#requests.delete(request) || status === 200 || attempt >= attemptsMax) return
      this.#later(firstRetryMs * 2 ** (attempt - 1), () => this.#deliver(body, signature, attempt + 1))
    })
    this.#requests.add(request.end(body))
  }
}
