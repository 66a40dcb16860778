import type { PassedAnswer } from '../../kit/reverse-proxy.js'
import type { ActName } from './acts.js'

/** Requests of people's acts that must work for the service to be itself. */
const vital: Readonly<Partial<Record<ActName, readonly string[]>>> = {
  crypto: ['POST /payments/intent', 'POST /chain/tips/create'],
  naira: ['POST /payments/fiat/intent'],
  withdraw: ['GET /creators/balance'],
}
/** A refusal that says when to come again, and a transfer that the bank refused. */
export const mildRefusals = ['503 service_unavailable', '502 payout_refused', '429 too_many_requests']
export const brokenConnection = 'broken connection'
const firstRefusal = 500

/** What clients were answered. */
export class ClientNotes {
  readonly faults: string[] = []
  /** How often each answer came, by its status and code, the slowest (ms), and what was asked first. */
  readonly #answers = new Map<string, { count: number; slowestMs: number; first: string }>()
  /** When a request began that was answered 200, the newest of each kind. */
  readonly #worked = new Map<string, number>()
  count = 0

  note = ({ method, path, at, ms, status, headers, text }: PassedAnswer): void => {
    const kind = `${method} ${path.replace(/\?.*$/, '')}`
    // Streams end when their readers or the process do.
    if (kind.endsWith('/stream')) return
    const name = status === 0 ? brokenConnection : `${status}${codeOf(text)}`
    const asked = `${kind} at ${new Date(at).toISOString()}`
    const { count = 0, slowestMs = 0, first = asked } = this.#answers.get(name) ?? {}
    this.#answers.set(name, { count: count + 1, slowestMs: Math.max(slowestMs, Math.round(ms)), first })
    this.count += 1
    if (status === 200) this.#worked.set(kind, Math.max(at, this.#worked.get(kind) ?? 0))
    if (status === 503 && headers['retry-after'] === undefined)
      this.faults.push(`${kind} was answered 503 without Retry-After`)
  }

  /** Whether each kind of request of these acts has worked that began after this time. */
  worksSince(at: number, acts: readonly string[]): boolean {
    const kinds = acts.flatMap((name) => vital[name as ActName] ?? [])
    return kinds.every((kind) => (this.#worked.get(kind) ?? 0) > at)
  }

  get told(): string {
    return [...this.#answers].map(([name, { count }]) => `${count} x ${name}`).join(', ')
  }

  get rows(): (readonly [string, string])[] {
    return [...this.#answers]
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, { count, slowestMs }]) => [`answered ${name}`, `${count}, slowest ${slowestMs} ms`])
  }

  /** Refusals that no client should see. */
  unexpected(allowed: readonly string[] = mildRefusals): string[] {
    return [...this.#answers]
      .filter(([name]) => name === brokenConnection || Number.parseInt(name, 10) >= firstRefusal)
      .filter(([name]) => !allowed.includes(name))
      .map(([name, { count, first }]) => `${count} requests were answered ${name}, the first ${first}`)
  }

  /** Answers that came later than this. */
  slowerThan(ms: number): string[] {
    return [...this.#answers].flatMap(([name, { slowestMs }]) =>
      slowestMs > ms ? [`${name} came after ${slowestMs} ms; ${ms} is the most`] : [],
    )
  }
}

function codeOf(text: string): string {
  const code = /"code":"([a-z_]+)"/.exec(text)?.[1]
  return text === '' ? '' : ` ${code ?? text.split('\n', 1)[0]}`
}
