import { z } from 'zod'
import { encodeBase58 } from '../../../../src/kernel/base58.js'
import type { LocalChain } from '../local-chain.js'
import { readMint, readTokenAccount, tokenProgram } from '../token-accounts.js'
import type { Account } from '../vm/execution.js'
import { invalidParams } from './error.js'
import { config, count } from './params.js'

/** Options for the format of an account's data. */
export const accountForm = {
  encoding: z.enum(['base58', 'base64', 'jsonParsed', 'base64+zstd', 'binary']).nullish(),
  dataSlice: z.object({ offset: count, length: count }).nullish(),
}
export const accountConfig = config(accountForm)
type AccountConfig = z.output<typeof accountConfig>

const base58BytesMax = 128

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
  if (encoding === 'base64+zstd') throw invalidParams('base64+zstd is not spoken here; use base64')
  const parsed = encoding === 'jsonParsed' && parseAccountData(account, (mint) => chain.svm.account(mint))
  if (parsed) return parsed
  const { data } = account
  const slice = dataSlice ? data.subarray(dataSlice.offset, dataSlice.offset + dataSlice.length) : data
  if (encoding === 'base64' || encoding === 'jsonParsed') return [slice.toString('base64'), 'base64']
  if (slice.length > base58BytesMax) {
    throw invalidParams(
      'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
    )
  }
  return encoding === 'base58' ? [encodeBase58(slice), 'base58'] : encodeBase58(slice)
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
