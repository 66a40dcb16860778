import { withdrawOnce } from './client.js'

/** The result of one round. */
export interface RaceResult {
  readonly succeeded: number
  /** The other answers and how often each was given. */
  readonly others: Readonly<Record<string, number>>
}

/** A loaded machine refuses some of many requests with 503, and nothing has happened. Those are sent again. */
async function withdraw(...request: Parameters<typeof withdrawOnce>): ReturnType<typeof withdrawOnce> {
  let answer = await withdrawOnce(...request)
  for (let tries = 1; answer.status === 503 && tries < 20; tries++) answer = await withdrawOnce(...request)
  return answer
}

/**
 * Requests a withdrawal of the whole balance many times concurrently, from the web processes in turn. Every request is
 * another withdrawal. One may succeed, and the others must be answered `Insufficient Balance`.
 */
export async function raceForBalance(
  urls: readonly string[],
  cookie: string,
  amountUSDC: number,
  requests: number,
): Promise<RaceResult> {
  const answers = await Promise.all(
    Array.from({ length: requests }, (_, n) => withdraw(urls[n % urls.length] ?? '', cookie, amountUSDC)),
  )
  const others: Record<string, number> = {}
  let succeeded = 0
  for (const { status, body } of answers) {
    const answer = `${status} ${(body as { error?: string }).error ?? ''}`
    if (status === 200) succeeded += 1
    else others[answer] = (others[answer] ?? 0) + 1
  }
  return { succeeded, others }
}
