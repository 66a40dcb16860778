import { callAsOwner } from './api.js'
import type { Stage } from './stage.js'

/** What the creator has, in USDC: free to withdraw, and held for withdrawals on their way. */
export async function balanceOf({
  web,
  creator,
}: Stage): Promise<{ readonly availableUSDC: number; readonly heldUSDC: number }> {
  const { balance } = await callAsOwner(web, 'GET', '/creators/balance', creator.cookie)
  const { availableUSDC, heldUSDC } = balance as { availableUSDC: number; heldUSDC: number }
  return { availableUSDC, heldUSDC }
}
