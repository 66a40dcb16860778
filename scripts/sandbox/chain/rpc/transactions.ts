import { VersionedMessage, VersionedTransaction } from '@solana/web3.js'
import { z } from 'zod'
import { requestAirdrop } from '../faucet.js'
import type { LocalChain } from '../local-chain.js'
import { accountJson } from './accounts.js'
import { latestBlockhash } from './cluster.js'
import { invalidParams, RpcError } from './error.js'
import {
  binaryEncoding,
  commitmentConfig,
  config,
  count,
  decodeBinary,
  encodedBytesMax,
  encoding,
  key,
  method,
  type RpcMethod,
  requestedCommitment,
  valueMethod,
} from './params.js'

const simulatedAccountsMax = 100
const lamportsPerSignature = 5000

const encodedTransaction = z.string().max(encodedBytesMax, 'encoded transaction too large')
const sendConfig = config({ encoding: binaryEncoding.nullish(), skipPreflight: z.boolean().nullish() })
const simulateConfig = config({
  encoding: binaryEncoding.nullish(),
  sigVerify: z.boolean().nullish(),
  replaceRecentBlockhash: z.boolean().nullish(),
  innerInstructions: z.boolean().nullish(),
  accounts: z
    .object({ addresses: z.array(key).max(simulatedAccountsMax), encoding: encoding.nullish() })
    .nullish(),
})

export function transactionMethods(chain: LocalChain): Record<string, RpcMethod> {
  return {
    requestAirdrop: method(z.tuple([key, count, commitmentConfig.optional()]), (wallet, lamports) =>
      requestAirdrop(chain, wallet, BigInt(lamports)),
    ),
    sendTransaction: method(z.tuple([encodedTransaction, sendConfig.optional()]), (text, options = {}) =>
      chain.submit(decodeBinary(text, options.encoding ?? 'base58'), {
        skipPreflight: options.skipPreflight === true,
      }),
    ),
    simulateTransaction: valueMethod(
      chain,
      z.tuple([encodedTransaction, simulateConfig.optional()]),
      (text, options = {}) => simulate(chain, text, options),
    ),
    getFeeForMessage: valueMethod(
      chain,
      z.tuple([z.string().max(encodedBytesMax), commitmentConfig.optional()]),
      (text) => feeOf(chain, text),
    ),
  }
}

function simulate(chain: LocalChain, text: string, options: Partial<z.output<typeof simulateConfig>>) {
  if (options.sigVerify && options.replaceRecentBlockhash) {
    throw invalidParams('sigVerify may not be used with replaceRecentBlockhash')
  }
  const result = chain.simulate(decodeBinary(text, options.encoding ?? 'base58'), {
    verifySignatures: options.sigVerify === true,
    anyBlockhash: options.replaceRecentBlockhash === true,
  })
  if (result.err === 'SignatureFailure')
    throw new RpcError(-32003, 'Transaction signature verification failure')
  const accounts = options.accounts?.addresses.map((address) =>
    accountJson(chain, result.accounts.get(address) ?? chain.svm.account(address), { encoding: 'base64' }),
  )
  return {
    err: result.err,
    logs: result.logs,
    unitsConsumed: result.unitsConsumed,
    returnData: result.returnData,
    innerInstructions: options.innerInstructions ? result.innerInstructions : null,
    fee: result.fee ?? null,
    accounts: accounts ?? null,
    ...(options.replaceRecentBlockhash
      ? { replacementBlockhash: latestBlockhash(chain, requestedCommitment(options)) }
      : {}),
  }
}

function feeOf(chain: LocalChain, text: string): number | null {
  let message: VersionedMessage
  try {
    message = VersionedMessage.deserialize(decodeBinary(text, 'base64'))
  } catch {
    throw invalidParams('failed to deserialize message')
  }
  if (chain.clock.slotOfRecentHash(message.recentBlockhash) === undefined) return null
  const raw = new VersionedTransaction(message).serialize()
  const { fee } = chain.simulate(raw, { verifySignatures: false, anyBlockhash: false })
  return fee || lamportsPerSignature * message.header.numRequiredSignatures
}
