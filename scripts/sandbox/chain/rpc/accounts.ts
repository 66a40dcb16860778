import { z } from 'zod'
import type { LocalChain } from '../local-chain.js'
import { isTokenProgram, readMint, readTokenAccount, tokenAmount, tokenProgram } from '../token-accounts.js'
import type { Account } from '../vm/svm.js'
import { withContext } from './cluster.js'
import { invalidParams } from './error.js'
import {
  commitmentConfig,
  config,
  count,
  key,
  limitedList,
  method,
  type RpcMethod,
  requestedCommitment,
} from './params.js'

const accountsMax = 100
/** Options for the format of an account's data. */
const accountConfig = config({
  encoding: z.enum(['base64', 'jsonParsed'], 'base64 and jsonParsed are spoken here').nullish(),
  dataSlice: z.object({ offset: count, length: count }).nullish(),
})
/** JSON-RPC methods that read accounts. They return the newest state at every commitment. */
export function accountMethods(chain: LocalChain): Record<string, RpcMethod> {
  const read = (address: string, options: z.output<typeof accountConfig>) =>
    accountJson(chain, chain.svm.account(address), options)
  return {
    getBalance: method(z.tuple([key, commitmentConfig.optional()]), (address, options = {}) =>
      withContext(chain, requestedCommitment(options), Number(chain.svm.account(address)?.lamports ?? 0n)),
    ),
    getAccountInfo: method(z.tuple([key, accountConfig.optional()]), (address, options = {}) =>
      withContext(chain, requestedCommitment(options), read(address, options)),
    ),
    getMultipleAccounts: method(
      z.tuple([limitedList(key, accountsMax), accountConfig.optional()]),
      (addresses, options = {}) => {
        const accounts = addresses.map((address) => read(address, options))
        return withContext(chain, requestedCommitment(options), accounts)
      },
    ),
  }
}

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

type AccountConfig = z.output<typeof accountConfig>

/** An account in JSON-RPC format. */
export function accountJson(chain: LocalChain, account: Account | undefined, options: AccountConfig) {
  if (!account) return null
  const { lamports, owner, executable, data } = account
  return {
    lamports: Number(lamports),
    owner,
    executable,
    rentEpoch: 0,
    space: data.length,
    data: dataJson(chain, account, options),
  }
}

function dataJson(chain: LocalChain, account: Account, { encoding, dataSlice }: AccountConfig): unknown {
  const parsed = encoding === 'jsonParsed' && parseAccountData(account, (mint) => chain.svm.account(mint))
  if (parsed) return parsed
  const { data } = account
  const slice = dataSlice ? data.subarray(dataSlice.offset, dataSlice.offset + dataSlice.length) : data
  return [slice.toString('base64'), 'base64']
}

/** The `jsonParsed` form of a mint or token account. `undefined` for other accounts, which a node returns as bytes. */
function parseAccountData(account: Account, mintOf: (mint: string) => Account | undefined) {
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
