import { z } from 'zod'
import type { LocalChain } from '../local-chain.js'
import { isTokenProgram, readMint, readTokenAccount, tokenAmount, tokenProgram } from '../token-accounts.js'
import { accountConfig, accountJson } from './account-json.js'
import { withContext } from './cluster.js'
import { invalidParams } from './error.js'
import { commitmentConfig, key, method, type RpcMethod, requestedCommitment } from './params.js'

/** JSON-RPC methods that read mints and token accounts. */
export function tokenMethods(chain: LocalChain): Record<string, RpcMethod> {
  const mintOf = (mint: string) => chain.svm.account(mint)
  return {
    getTokenAccountBalance: method(z.tuple([key, commitmentConfig.optional()]), (address, options = {}) => {
      const account = chain.svm.account(address)
      if (!account) throw invalidParams('Invalid param: could not find account')
      const token = readTokenAccount(account, mintOf)
      if (!token) throw invalidParams('Invalid param: not a Token account')
      return withContext(chain, requestedCommitment(options), token.uiTokenAmount)
    }),
    getTokenSupply: method(z.tuple([key, commitmentConfig.optional()]), (address, options = {}) => {
      const mint = readMint(chain.svm.account(address))
      if (!mint) throw invalidParams('Invalid param: could not find mint')
      return withContext(chain, requestedCommitment(options), tokenAmount(mint.supply, mint.decimals))
    }),
    getTokenAccountsByOwner: method(
      z.tuple([
        key,
        z.union([z.object({ mint: key }), z.object({ programId: key })]),
        accountConfig.optional(),
      ]),
      (owner, wanted, options = {}) => {
        const program = 'mint' in wanted ? (mintOf(wanted.mint)?.owner ?? tokenProgram) : wanted.programId
        if (!isTokenProgram(program)) throw invalidParams('Invalid param: unrecognized Token program id')
        const found = chain.svm.accountsOwnedBy(program).flatMap((entry) => {
          const token = readTokenAccount(entry.account, mintOf)
          const ours = token?.owner === owner && (!('mint' in wanted) || token.mint === wanted.mint)
          return ours ? [{ pubkey: entry.key, account: accountJson(chain, entry.account, options) }] : []
        })
        return withContext(chain, requestedCommitment(options), found)
      },
    ),
  }
}
