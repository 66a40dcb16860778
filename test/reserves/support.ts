import { associatedAccount } from '../../scripts/sandbox/chain/faucet.js'
import { usdc } from '../../src/kernel/tokens.js'
import { createVerifierBatch } from '../../src/tips/verify-tips.js'
import type { TestCreator } from '../helpers/make/creators.js'
import { createPaidIntents, makeTipsDue, type PaidIntent } from '../helpers/make/intents.js'
import { createSupporter } from '../helpers/make/supporter.js'
import { readTipRow, recordTip, runBatchUntil } from '../helpers/make/tips.js'
import { as } from '../helpers/servers/roles.js'
import type { World } from '../helpers/servers/world.js'

/** The owners top up the balance at the provider, or take money out, so that this is the balance. */
export async function setProviderBalance({ fiat }: Pick<World, 'fiat'>, kobo: bigint): Promise<void> {
  const { status } = await fetch(`${fiat.url}/dev/fiatpay/balance`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ balanceKobo: Number(kobo) }),
  })
  if (status !== 200) throw new Error(`the balance was not set: ${status}`)
}

/** A tip of 2 dollars, of which the creator receives 1.96, final on the chain and in the ledger. */
export async function finalTip(world: World, creator: TestCreator): Promise<void> {
  const supporter = createSupporter(world.sandbox, ['USDC'])
  const [paid] = (await createPaidIntents(world, supporter, [creator.wallet])) as [PaidIntent]
  await recordTip(world, paid.claim)
  world.sandbox.chain.advance(40)
  await finalizeTip(world, paid.signature)
}

/** Runs the verifier until the tip is final. */
async function finalizeTip(world: World, signature: string): Promise<void> {
  const batch = createVerifierBatch(as('verifier', world.services))
  const isFinal = async () => (await readTipRow(world, signature)).finalized_at !== null
  await runBatchUntil(
    async () => {
      await makeTipsDue(world)
      return batch()
    },
    'the tip is final',
    isFinal,
  )
}

/** Changes what a wallet's USDC account holds on the chain, as no transaction could. */
export function changeHolding({ sandbox }: World, wallet: string, change: bigint): void {
  const key = associatedAccount(wallet, usdc.mint).toBase58()
  const account = sandbox.chain.svm.account(key)
  if (account === undefined) throw new Error(`${wallet} holds no USDC`)
  const data = Buffer.from(account.data)
  data.writeBigUInt64LE(data.readBigUInt64LE(64) + change, 64)
  sandbox.chain.setAccount(key, { ...account, data })
}
