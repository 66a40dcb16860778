import test from 'ava'
import { withdrawOnce } from '../../scripts/kit/client.js'
import { creatorWithBalance, listHistory, readBalance } from '../helpers/make/withdrawals.js'
import { startWeb } from '../helpers/servers/service-process.js'
import { useWorld } from '../helpers/servers/world.js'
import { listBrokenInvariants } from '../ledger/support.js'

const world = useWorld(test, { fiat: true })
const requests = 500

test('of 500 concurrent withdrawals of the whole balance through two processes exactly one succeeds', async (t) => {
  t.timeout(120_000)
  const webs = await Promise.all([startWeb(t, world().env), startWeb(t, world().env)])
  const urls = webs.map(({ url }) => url)
  const ada = await creatorWithBalance(world(), 20)
  const { succeeded, others } = await raceForBalance(urls, `session=${ada.session}`, 20, requests)
  t.is(succeeded, 1)
  t.deepEqual(others, { '400 Insufficient Balance': requests - 1 })
  t.deepEqual(await readBalance(world(), ada), { availableUSDC: 0, heldUSDC: 20 })
  t.is((await listHistory(world(), ada)).length, 1)
  t.deepEqual(await listBrokenInvariants(world().db), [])
})

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
async function raceForBalance(urls: readonly string[], cookie: string, amountUSDC: number, requests: number) {
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
