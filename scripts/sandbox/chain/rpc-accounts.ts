import { z } from 'zod'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import type { LocalChain } from './local-chain.js'
import { parseAccountData } from './parse-account.js'
import { withContext } from './rpc-cluster.js'
import { invalidParams } from './rpc-error.js'
import {
  anyConfig,
  asked,
  binaryEncoding,
  config,
  count,
  decodeBinary,
  key,
  method,
  type RpcMethod,
} from './rpc-params.js'
import type { Account } from './svm.js'
import { isTokenProgram, readMint, readTokenAccount, tokenAmount, tokenProgram } from './token-accounts.js'

const accountsMax = 100
const filtersMax = 4

const accountConfig = config({
  encoding: z.enum(['base58', 'base64', 'jsonParsed', 'base64+zstd', 'binary']).nullish(),
  dataSlice: z.object({ offset: count, length: count }).nullish(),
})
type AccountConfig = z.output<typeof accountConfig>

const filter = z.union([
  z.object({ dataSize: count }),
  z.object({
    memcmp: z.object({ offset: count, bytes: z.string().max(200), encoding: binaryEncoding.nullish() }),
  }),
])
const programConfig = config({
  encoding: accountConfig.out.shape.encoding,
  dataSlice: accountConfig.out.shape.dataSlice,
  filters: z.array(filter).max(filtersMax).nullish(),
  withContext: z.boolean().nullish(),
})

/** An account as the JSON-RPC writes it. */
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
  if (slice.length > 128)
    throw invalidParams(
      'Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.',
    )
  return encoding === 'base58' ? [encodeBase58(slice), 'base58'] : encodeBase58(slice)
}

function matches(data: Buffer, wanted: z.output<typeof filter>): boolean {
  if ('dataSize' in wanted) return data.length === wanted.dataSize
  const { offset, bytes, encoding } = wanted.memcmp
  const expected = decodeBinary(bytes, encoding ?? 'base58')
  return data.subarray(offset, offset + expected.length).equals(expected)
}

/** JSON-RPC methods that read accounts. They always show the newest state, whatever commitment is asked for. */
export function accountMethods(chain: LocalChain): Record<string, RpcMethod> {
  const read = (address: string, options: AccountConfig) =>
    accountJson(chain, chain.svm.account(address), options)
  const mintOf = (mint: string) => chain.svm.account(mint)
  return {
    getBalance: method(z.tuple([key, anyConfig.optional()]), (address, options = {}) =>
      withContext(chain, asked(options), Number(chain.svm.account(address)?.lamports ?? 0n)),
    ),
    getAccountInfo: method(z.tuple([key, accountConfig.optional()]), (address, options = {}) =>
      withContext(chain, asked(options), read(address, options)),
    ),
    getMultipleAccounts: method(
      z.tuple([
        z
          .array(z.unknown())
          .max(accountsMax, `Too many inputs provided; max ${accountsMax}`)
          .pipe(z.array(key)),
        accountConfig.optional(),
      ]),
      (addresses, options = {}) =>
        withContext(
          chain,
          asked(options),
          addresses.map((address) => read(address, options)),
        ),
    ),
    getProgramAccounts: method(z.tuple([key, programConfig.optional()]), (program, options = {}) => {
      const found = chain.svm
        .accountsOwnedBy(program)
        .filter(({ account }) => (options.filters ?? []).every((wanted) => matches(account.data, wanted)))
        .map((entry) => ({ pubkey: entry.key, account: accountJson(chain, entry.account, options) }))
      return options.withContext ? withContext(chain, asked(options), found) : found
    }),
    getTokenAccountBalance: method(z.tuple([key, anyConfig.optional()]), (address, options = {}) => {
      const account = chain.svm.account(address)
      if (!account) throw invalidParams('Invalid param: could not find account')
      const token = readTokenAccount(account, mintOf)
      if (!token) throw invalidParams('Invalid param: not a Token account')
      return withContext(chain, asked(options), token.uiTokenAmount)
    }),
    getTokenSupply: method(z.tuple([key, anyConfig.optional()]), (address, options = {}) => {
      const mint = readMint(chain.svm.account(address))
      if (!mint) throw invalidParams('Invalid param: could not find mint')
      return withContext(chain, asked(options), tokenAmount(mint.supply, mint.decimals))
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
        return withContext(chain, asked(options), found)
      },
    ),
  }
}
