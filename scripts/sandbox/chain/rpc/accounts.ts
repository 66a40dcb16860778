import { z } from 'zod'
import type { LocalChain } from '../local-chain.js'
import { accountConfig, accountForm, accountJson } from './account-json.js'
import { withContext } from './cluster.js'
import {
  anyConfig,
  asked,
  binaryEncoding,
  config,
  count,
  decodeBinary,
  inputs,
  key,
  method,
  type RpcMethod,
} from './params.js'

const accountsMax = 100
const filtersMax = 4

const filter = z.union([
  z.object({ dataSize: count }),
  z.object({
    memcmp: z.object({ offset: count, bytes: z.string().max(200), encoding: binaryEncoding.nullish() }),
  }),
])
const programConfig = config({
  ...accountForm,
  filters: z.array(filter).max(filtersMax).nullish(),
  withContext: z.boolean().nullish(),
})

function matches(data: Buffer, wanted: z.output<typeof filter>): boolean {
  if ('dataSize' in wanted) return data.length === wanted.dataSize
  const { offset, bytes, encoding } = wanted.memcmp
  const expected = decodeBinary(bytes, encoding ?? 'base58')
  return data.subarray(offset, offset + expected.length).equals(expected)
}

/** JSON-RPC methods that read accounts. They always show the newest state, whatever commitment is asked for. */
export function accountMethods(chain: LocalChain): Record<string, RpcMethod> {
  const read = (address: string, options: z.output<typeof accountConfig>) =>
    accountJson(chain, chain.svm.account(address), options)
  return {
    getBalance: method(z.tuple([key, anyConfig.optional()]), (address, options = {}) =>
      withContext(chain, asked(options), Number(chain.svm.account(address)?.lamports ?? 0n)),
    ),
    getAccountInfo: method(z.tuple([key, accountConfig.optional()]), (address, options = {}) =>
      withContext(chain, asked(options), read(address, options)),
    ),
    getMultipleAccounts: method(
      z.tuple([inputs(key, accountsMax), accountConfig.optional()]),
      (addresses, options = {}) => {
        const accounts = addresses.map((address) => read(address, options))
        return withContext(chain, asked(options), accounts)
      },
    ),
    getProgramAccounts: method(z.tuple([key, programConfig.optional()]), (program, options = {}) => {
      const found = chain.svm
        .accountsOwnedBy(program)
        .filter(({ account }) => (options.filters ?? []).every((wanted) => matches(account.data, wanted)))
        .map((entry) => ({ pubkey: entry.key, account: accountJson(chain, entry.account, options) }))
      return options.withContext ? withContext(chain, asked(options), found) : found
    }),
  }
}
