import type { Person } from './people.js'
import { at, call, control, until } from './server.js'

/** One bank account for everybody: a server must not care who else was paid to it. */
export const bank = { bankCode: '058', accountNumber: '0123456789', accountName: 'Ada Obi' }
/** The stand-in refuses this account with `Account name mismatch`. */
export const refusedBank = { ...bank, accountNumber: '0000000001' }

/** Pays a naira tip of so many dollars to a creator and waits for its completion: 95 % of it can be withdrawn. */
export async function fund(creator: Pick<Person, 'id'>, amount: number): Promise<void> {
  const { body, text } = await call('POST', '/payments/fiat/intent', {
    body: { creatorId: creator.id, amount },
  })
  const intentId = body['intentId']
  if (typeof intentId !== 'string') throw new Error(`no intent: ${text}`)
  await control(`/dev/fiatpay/charges/${intentId}`, { outcome: 'paid' })
  await until('the completion of a naira tip', 30, () => completed(intentId))
}

export async function completed(intentId: string): Promise<true | undefined> {
  const { body } = await call('GET', `/payments/fiat/status?intentId=${intentId}`)
  return body['status'] === 'completed' ? true : undefined
}

/** The available USDC of a creator. */
export async function availableOf({ cookie }: Pick<Person, 'cookie'>): Promise<number> {
  const { body } = await call('GET', '/creators/balance', { cookie })
  return Number(at(body, 'balance', 'availableUSDC'))
}
