import type { Account } from '../execution.js'
import { readMint, readTokenAccount, tokenProgram } from '../token-accounts.js'

/** The `jsonParsed` form of a mint or token account; undefined for anything else, which a node leaves as bytes. */
export function parseAccountData(account: Account, mintOf: (mint: string) => Account | undefined) {
  const program = account.owner === tokenProgram ? 'spl-token' : 'spl-token-2022'
  const space = account.data.length
  const token = readTokenAccount(account, mintOf)
  if (token) {
    const { isNative, mint, owner, state, uiTokenAmount } = token
    const info = { isNative, mint, owner, state, tokenAmount: uiTokenAmount }
    return { program, space, parsed: { type: 'account', info } }
  }
  const mint = readMint(account)
  if (!mint) return undefined
  return { program, space, parsed: { type: 'mint', info: { ...mint, supply: String(mint.supply) } } }
}
