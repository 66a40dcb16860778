import { z } from 'zod'
import { messageHash, readSignedAccounts } from '../../kernel/wire-transaction.js'
import type { ChainTransaction, TokenChange } from '../../ports/chain.js'
import { tokenProgram } from './account-state.js'

/** JSON numbers above 2^53 are not exact. A transaction with such a balance is refused rather than read wrongly. */
const lamports = z.number().refine(Number.isSafeInteger)
const tokenBalance = z.object({
  accountIndex: z.number(),
  mint: z.string(),
  owner: z.string().optional(),
  programId: z.string().optional(),
  uiTokenAmount: z.object({ amount: z.string().regex(/^\d{1,20}$/) }),
})

/** The fields we read of `getTransaction` with encoding `base64` (Solana RPC documentation). */
const transactionReply = z.object({
  slot: z.number(),
  blockTime: z.number().nullish(),
  transaction: z.tuple([z.string(), z.literal('base64')]),
  meta: z.object({
    err: z.unknown().optional(),
    fee: lamports,
    preBalances: z.array(lamports),
    postBalances: z.array(lamports),
    preTokenBalances: z.array(tokenBalance).nullish(),
    postTokenBalances: z.array(tokenBalance).nullish(),
    loadedAddresses: z.object({ writable: z.array(z.string()), readonly: z.array(z.string()) }).nullish(),
  }),
})
type Meta = z.output<typeof transactionReply>['meta']

/**
 * Decodes one answer of `getTransaction`. Undefined when the node does not have the transaction (null), has no balances
 * for it yet, or the answer cannot be read. All of these mean "try later" and prove nothing.
 */
export function decodeTransaction(signature: string, reply: unknown): ChainTransaction | undefined {
  const parsed = transactionReply.safeParse(reply)
  if (!parsed.success) return undefined
  const { slot, blockTime, transaction, meta } = parsed.data
  const bytes = Buffer.from(transaction[0], 'base64')
  const wire = readSignedAccounts(bytes)
  // The first signature identifies a transaction. A second signer's signature does not.
  if (wire === undefined || wire.signature !== signature) return undefined
  const accounts = [
    ...wire.accounts,
    ...(meta.loadedAddresses?.writable ?? []),
    ...(meta.loadedAddresses?.readonly ?? []),
  ]
  return {
    signature,
    messageHash: messageHash(bytes).toString('hex'),
    failed: meta.err !== null && meta.err !== undefined,
    slot: BigInt(slot),
    blockTime: blockTime == null ? undefined : new Date(blockTime * 1000),
    accounts: new Set(accounts),
    signers: new Set(wire.accounts.slice(0, wire.signerCount)),
    feePayer: wire.accounts[0] as string,
    networkFee: BigInt(meta.fee),
    lamports: lamportChanges(accounts, meta),
    tokens: tokenChanges(accounts, meta),
  }
}

function lamportChanges(
  accounts: readonly string[],
  { preBalances, postBalances }: Meta,
): Map<string, bigint> {
  const changes = new Map<string, bigint>()
  for (const [index, account] of accounts.entries()) {
    const change = BigInt(postBalances[index] ?? 0) - BigInt(preBalances[index] ?? 0)
    if (change !== 0n) changes.set(account, change)
  }
  return changes
}

/** A token account that is missing before or after counts as empty. */
function tokenChanges(accounts: readonly string[], meta: Meta): TokenChange[] {
  const before = new Map((meta.preTokenBalances ?? []).map((balance) => [balance.accountIndex, balance]))
  const after = new Map((meta.postTokenBalances ?? []).map((balance) => [balance.accountIndex, balance]))
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((index) => {
    const [pre, post] = [before.get(index), after.get(index)]
    const account = accounts[index]
    const mint = post?.mint ?? pre?.mint
    if (account === undefined || mint === undefined) return []
    return {
      account,
      mint,
      ownerBefore: pre?.owner,
      ownerAfter: post?.owner,
      classic: (post ?? pre)?.programId === tokenProgram,
      delta: BigInt(post?.uiTokenAmount.amount ?? 0) - BigInt(pre?.uiTokenAmount.amount ?? 0),
    }
  })
}
