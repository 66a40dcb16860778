import { z } from 'zod'
import type { LocalChain } from '../local-chain.js'
import { accountConfig, accountForm, accountJson } from './account-json.js'
import { withContext } from './cluster.js'
import {
  binaryEncoding,
  commitmentConfig,
  config,
  count,
  decodeBinary,
  key,
  limitedList,
  method,
  type RpcMethod,
  requestedCommitment,
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

function matches(data: Buffer, wantedFilter: z.output<typeof filter>): boolean {
  if ('dataSize' in wantedFilter) return data.length === wantedFilter.dataSize
  const { offset, bytes, encoding } = wantedFilter.memcmp
  const expected = decodeBinary(bytes, encoding ?? 'base58')
  return data.subarray(offset, offset + expected.length).equals(expected)
}

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
    getProgramAccounts: method(z.tuple([key, programConfig.optional()]), (program, options = {}) => {
      const found = chain.svm
        .accountsOwnedBy(program)
        .filter(({ account }) =>
          (options.filters ?? []).every((wantedFilter) => matches(account.data, wantedFilter)),
        )
        .map((entry) => ({ pubkey: entry.key, account: accountJson(chain, entry.account, options) }))
      return options.withContext ? withContext(chain, requestedCommitment(options), found) : found
    }),
  }
}
