import { solMint, tokenBySymbol } from '../../../../src/kernel/tokens.js'
import type { Scene } from '../scene.js'
import { again, type Cause } from './cause.js'

/** A provider is away, and is measured. */
function away(
  provider: string,
  further: readonly string[],
  fault: (scene: Scene) => Promise<() => unknown>,
): Cause {
  return {
    name: `${provider} is away`,
    fires: ['provider_unavailable', ...further],
    lasts: true,
    async make(scene) {
      const putRight = await fault(scene)
      await scene.measureAgain([provider])
      return async () => {
        await putRight()
        await scene.measureAgain([provider])
        await scene.until(`${provider} is back`, async () => {
          const now = await scene.scrape()
          if (now.min('tipping_available', { provider }) === 1) return true
          await scene.measureAgain([provider])
          return false
        })
      }
    },
    seen: (now) => now.min('tipping_available', { provider }) === 0,
  }
}

export const providerCauses: readonly Cause[] = [
  {
    ...away('rates', [], async ({ stage: { sandbox } }) => {
      sandbox.rates.set({ feed: 'down' })
      return () => sandbox.rates.set({ feed: 'ok' })
    }),
    mayFire: ['rate_feed_away'],
  },
  away('prices', [], async ({ stage: { sandbox } }) => {
    const price = sandbox.prices.usd(solMint) ?? null
    sandbox.prices.set(solMint, null)
    return () => sandbox.prices.set(solMint, price)
  }),
  away('chain', [], async ({ stage: { sandbox } }) => {
    sandbox.faults.set({ answer: 'html' })
    return () => sandbox.faults.clear()
  }),
  {
    ...away('fiatpay', ['fiatpay_away'], async (scene) => {
      scene.fiatpay.faults.setFault({ refuseKey: true })
      const wanted = { creatorId: scene.creator(0).userId, amount: 5 }
      const stop = again(() => scene.ask(['POST', '/payments/fiat/intent', wanted]))
      return async () => {
        await stop()
        scene.fiatpay.faults.setFault({})
      }
    }),
    fires: ['provider_unavailable', 'fiatpay_away', 'answers_fail'],
    name: 'the fiat provider refuses our key',
  },
  away('redis', [], async ({ redis }) => {
    await redis.stop()
    return () => redis.start()
  }),
  {
    name: 'requests are refused, because the rate jumps',
    fires: ['rate_refused', 'answers_fail'],
    lasts: true,
    async make(scene) {
      const { rates } = scene.stage.sandbox
      rates.set({ NGN: 5000 })
      const stop = again(() => scene.ask(['GET', '/payments/fiat/rate?amount=10']))
      return async () => {
        await stop()
        rates.set({ NGN: 1600 })
        await scene.until('the rate is good', async () => {
          const { status } = await scene.ask(['GET', '/payments/fiat/rate?amount=10'])
          return status === 200
        })
      }
    },
    seen: (now, before) => now.alerts('rate_refused', before) > 0,
  },
  {
    name: 'the rate feed gives no answer',
    fires: ['rate_feed_away'],
    mayFire: ['provider_unavailable'],
    lasts: true,
    async make(scene) {
      const { rates } = scene.stage.sandbox
      rates.set({ feed: 'down' })
      const stop = again(() => scene.ask(['GET', '/payments/fiat/rate?amount=10']))
      return async () => {
        await stop()
        rates.set({ feed: 'ok' })
      }
    },
  },
  {
    name: 'the prices of four tokens jump',
    fires: ['price_jump'],
    async make({ stage: { sandbox } }) {
      const prices = ['SOL', 'USDT', 'BONK', 'JitoSOL'].map((symbol) => {
        const mint = tokenBySymbol(symbol)?.mint ?? ''
        return [mint, sandbox.prices.usd(mint) ?? 1] as const
      })
      for (const [mint, price] of prices) sandbox.prices.set(mint, price * 3)
      return () => {
        for (const [mint, price] of prices) sandbox.prices.set(mint, price)
      }
    },
    seen: (now, before) => now.alerts('price_jump', before) >= 4,
  },
]

/** What comes last: connections break. */
export const databaseAway: Cause = {
  name: 'PostgreSQL is away',
  fires: ['provider_unavailable'],
  async make({ postgres }) {
    await postgres.kill()
    return () => postgres.start()
  },
  seen: (now) => now.max('tipping_available', { provider: 'postgresql' }) === 0,
}
