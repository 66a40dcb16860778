import type { World } from '../servers/world.js'
import { landed } from './paid-intents.js'
import { createSupporter, strangerWallet } from './supporter.js'
import { recordTip } from './tips.js'
import { solTransfer } from './transfers.js'

/** Tips that are recorded and whose transactions the chain has confirmed, to the recipients in turn; their signatures. */
export async function landTips(
  world: World,
  count: number,
  recipients?: readonly string[],
): Promise<string[]> {
  const supporter = createSupporter(world.sandbox)
  const claims = Array.from({ length: count }, (_, index) => {
    const creatorWallet = recipients?.[index % recipients.length] ?? strangerWallet()
    // Each its own amount, or two transfers in one slot would be one transaction.
    const lamports = 2_000_000 + index
    const txSignature = supporter.send([solTransfer(supporter.wallet, creatorWallet, lamports)])
    return { creatorWallet, senderWallet: supporter.wallet, tipAmount: lamports, txSignature }
  })
  const signatures = claims.map(({ txSignature }) => txSignature)
  await landed(world, signatures)
  await Promise.all(claims.map((claim) => recordTip(world, claim)))
  return signatures
}

/** Which of these tips are not confirmed. */
export async function unconfirmed({ db }: World, signatures: readonly string[]): Promise<string[]> {
  const rows = await db('tips').whereIn('id', signatures).whereNot({ status: 'confirmed' }).select('id')
  return rows.map(({ id }) => id)
}
