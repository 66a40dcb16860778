import type { PassedAnswer } from '../rolling/proxy.js'

/** Requests that must work for the service to be itself. */
const vital = [
  'POST /payments/intent',
  'POST /chain/tips/create',
  'POST /payments/fiat/intent',
  'GET /creators/balance',
]
/** A refusal that says when to come again, a transfer that the bank refused, and a broken connection. */
const allowed = ['503 service_unavailable', '502 payout_refused', '429 too_many_requests']
export const brokenConnection = 'broken connection'
const firstRefusal = 500

/** What clients were answered. */
export class ClientNotes {
  /** How often each answer came, by its status and code. */
  readonly answers: Record<string, number> = {}
  readonly times: number[] = []
  /** When a request began that was answered 200, the newest of each kind. */
  readonly #worked = new Map<string, number>()
  /** The slowest answer of each kind. */
  readonly slowest: Record<string, number> = {}
  readonly faults: string[] = []

  get count(): number {
    return Object.values(this.answers).reduce((sum, count) => sum + count, 0)
  }

  note = ({ method, path, at, ms, status, headers, text }: PassedAnswer): void => {
    const kind = `${method} ${path.replace(/\?.*$/, '')}`
    // Streams end when their readers or the process do.
    if (kind.endsWith('/stream')) return
    const answer = status === 0 ? brokenConnection : `${status}${codeOf(text)}`
    this.answers[answer] = (this.answers[answer] ?? 0) + 1
    this.slowest[answer] = Math.max(this.slowest[answer] ?? 0, Math.round(ms))
    if (status === 200) {
      this.times.push(ms)
      this.#worked.set(kind, Math.max(at, this.#worked.get(kind) ?? 0))
    }
    if (status === 503 && headers['retry-after'] === undefined)
      this.faults.push(`${kind} was answered 503 without Retry-After`)
  }

  /** Whether each kind of request has worked that began after this time. */
  worksSince(at: number): boolean {
    return vital.every((kind) => (this.#worked.get(kind) ?? 0) > at)
  }

  /** Refusals that no client should see. */
  unexpected(further: readonly string[]): string[] {
    const expected = [...allowed, ...further]
    return Object.entries(this.answers)
      .filter(([answer]) => answer === brokenConnection || Number.parseInt(answer, 10) >= firstRefusal)
      .filter(([answer]) => !expected.includes(answer))
      .map(([answer, count]) => `${count} requests were answered: ${answer}`)
  }
}

function codeOf(text: string): string {
  const code = /"code":"([a-z_]+)"/.exec(text)?.[1]
  return text === '' ? '' : ` ${code ?? text.slice(0, 60)}`
}
