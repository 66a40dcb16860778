import { withdrawOnce } from './client.js'

/** How one round went. */
export interface RaceResult {
  readonly won: number
  /** Every other answer, and how often. */
  readonly others: Readonly<Record<string, number>>
}

/**
 * Asks for the whole balance so many times at once, of all web processes in turn; every request is another withdrawal. Of all
 * of them one may win, and the others must hear `Insufficient Balance`.
 */
export async function raceForBalance(
  urls: readonly string[],
  cookie: string,
  amountUSDC: number,
  requests: number,
): Promise<RaceResult> {
  const answers = await Promise.all(
    Array.from({ length: requests }, (_, n) => withdrawOnce(urls[n % urls.length] ?? '', cookie, amountUSDC)),
  )
  const others: Record<string, number> = {}
  let won = 0
  for (const { status, body } of answers) {
    const told = `${status} ${(body as { error?: string }).error ?? ''}`
    if (status === 200) won += 1
    else others[told] = (others[told] ?? 0) + 1
  }
  return { won, others }
}
