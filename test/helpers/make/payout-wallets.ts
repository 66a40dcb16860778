import type { World } from '../servers/world.js'
import type { Person } from './creators.js'
import { stepUpCode } from './sign-in/emailed-codes.js'
import { createHolder, signText, type WalletHolder } from './sol-domains.js'

type Owner = Pick<Person, 'session' | 'email'>
type Method = 'POST' | 'PUT' | 'PATCH'

/** Sends a request, and repeats it with the code that it has mailed. Returns the second answer. */
export async function requestSteppedUp<Body>(
  world: Pick<World, 'db' | 'request'>,
  { session, email }: Owner,
  [method, path]: readonly [Method, string],
  body: Readonly<Record<string, unknown>>,
) {
  const refused = await world.request<{ code: string }>(method, path, { session, body })
  if (refused.body.code !== 'step_up_required')
    throw new Error(`${path}: ${refused.status} ${JSON.stringify(refused.body)}`)
  return world.request<Body>(method, path, {
    session,
    body: { ...body, code: await stepUpCode(world, email) },
  })
}

/** The message that this wallet is asked to sign. */
export async function walletChallenge(
  { request }: Pick<World, 'request'>,
  { session }: Pick<Owner, 'session'>,
  wallet: string,
): Promise<string> {
  const path = '/creators/payout-wallet/challenge'
  const answer = await request<{ message: string }>('POST', path, { session, body: { wallet } })
  if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body.message
}

/** Gives a creator a proven payout wallet. */
export async function addPayoutWallet(
  world: Pick<World, 'db' | 'request'>,
  owner: Owner,
  holder: WalletHolder = createHolder(),
): Promise<WalletHolder> {
  const signature = signText(holder, await walletChallenge(world, owner, holder.address))
  const body = { wallet: holder.address, signature }
  const answer = await requestSteppedUp(world, owner, ['PUT', '/creators/payout-wallet'], body)
  if (answer.status !== 200) throw new Error(`payout-wallet: ${answer.status} ${JSON.stringify(answer.body)}`)
  return holder
}

/** Chooses where a creator's new tips go. */
export async function sendTipsTo(
  world: Pick<World, 'db' | 'request'>,
  owner: Owner,
  tipsTo: 'custody' | 'payout_wallet',
): Promise<void> {
  const answer = await requestSteppedUp(world, owner, ['PATCH', '/creators/me'], { settings: { tipsTo } })
  if (answer.status !== 200) throw new Error(`tipsTo: ${answer.status} ${JSON.stringify(answer.body)}`)
}
