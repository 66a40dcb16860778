import { z } from 'zod'
import type { LocalChain } from '../local-chain.js'
import { isTokenProgram, readMint, readTokenAccount, tokenAmount, tokenProgram } from '../token-accounts.js'
import type { Account } from '../vm/svm.js'
import { invalidParams } from './error.js'
import { commitmentConfig, config, count, key, limitedList, type RpcMethod, valueMethod } from './params.js'

const accountsMax = 100
const accountConfig = config({
  encoding: z.enum(['base64', 'jsonParsed'], 'base64 and jsonParsed are spoken here').nullish(),
  dataSlice: z.object({ offset: count, length: count }).nullish(),
})
type AccountConfig = z.output<typeof accountConfig>

/** JSON-RPC methods that read accounts, mints and token accounts. They return the newest state at every commitment. */
export function accountMethods(chain: LocalChain): Record<string, RpcMethod> {
  const accountAt = (address: string) => chain.svm.account(address)
  const read = (address: string, options?: AccountConfig) =>
    accountJson(chain, accountAt(address), options ?? {})
  const address = z.tuple([key, commitmentConfig.optional()])
  const owned = z.union([z.object({ mint: key }), z.object({ programId: key })])
  return {
    getBalance: valueMethod(chain, address, (wallet) => Number(accountAt(wallet)?.lamports ?? 0n)),
    getAccountInfo: valueMethod(chain, z.tuple([key, accountConfig.optional()]), read),
    getMultipleAccounts: valueMethod(
      chain,
      z.tuple([limitedList(key, accountsMax), accountConfig.optional()]),
      (addresses, options) => addresses.map((one) => read(one, options)),
    ),
    getTokenAccountBalance: valueMethod(chain, address, (wanted) => {
      const account = accountAt(wanted)
      if (!account) throw invalidParams('Invalid param: could not find account')
      const token = readTokenAccount(account, accountAt)
      if (!token) throw invalidParams('Invalid param: not a Token account')
      return token.uiTokenAmount
    }),
    getTokenSupply: valueMethod(chain, address, (wanted) => {
      const mint = readMint(accountAt(wanted))
      if (!mint) throw invalidParams('Invalid param: could not find mint')
      return tokenAmount(mint.supply, mint.decimals)
    }),
    getTokenAccountsByOwner: valueMethod(
      chain,
      z.tuple([key, owned, accountConfig.optional()]),
      (owner, wanted, options = {}) => {
        const program = 'mint' in wanted ? (accountAt(wanted.mint)?.owner ?? tokenProgram) : wanted.programId
        if (!isTokenProgram(program)) throw invalidParams('Invalid param: unrecognized Token program id')
        return chain.svm.accountsOwnedBy(program).flatMap((entry) => {
          const token = readTokenAccount(entry.account, accountAt)
          const ours = token?.owner === owner && (!('mint' in wanted) || token.mint === wanted.mint)
          return ours ? [{ pubkey: entry.key, account: accountJson(chain, entry.account, options) }] : []
        })
      },
    ),
  }
}

export function accountJson(chain: LocalChain, account: Account | undefined, options: AccountConfig) {
  if (!account) return null
  const { lamports, owner, executable, data } = account
  const { encoding, dataSlice } = options
  const slice = dataSlice ? data.subarray(dataSlice.offset, dataSlice.offset + dataSlice.length) : data
  const parsed =
    encoding === 'jsonParsed' ? parseAccountData(account, (mint) => chain.svm.account(mint)) : undefined
  return {
    lamports: Number(lamports),
    owner,
    executable,
    rentEpoch: 0,
    space: data.length,
    data: parsed ?? [slice.toString('base64'), 'base64'],
  }
}

/** The `jsonParsed` form of a mint or token account. `undefined` for other accounts, which a node returns as bytes. */
function parseAccountData(account: Account, mintOf: (mint: string) => Account | undefined) {
  const program = account.owner === tokenProgram ? 'spl-token' : 'spl-token-2022'
  const space = account.data.length
  const token = readTokenAccount(account, mintOf)
  if (token) {
    const { programId: _, uiTokenAmount, ...info } = token
    return { program, space, parsed: { type: 'account', info: { ...info, tokenAmount: uiTokenAmount } } }
  }
  const mint = readMint(account)
  if (!mint) return undefined
  return { program, space, parsed: { type: 'mint', info: { ...mint, supply: String(mint.supply) } } }
}
