import { randomBytes } from 'node:crypto'
import { VersionedTransaction } from '@solana/web3.js'
import { encodeBase58 } from '../../../src/kernel/base58.js'
import { solMint, usdc } from '../../../src/kernel/tokens.js'
import type { ChainTransaction } from '../../../src/ports/chain.js'
import { decodeTransaction } from '../../../src/providers/solana/decode-transaction.js'
import type { AssociatedAccounts } from '../../../src/tips/verify/balance-changes.js'
import { matchTip } from '../../../src/tips/verify/match-tip.js'
import { requestUntilAnswered } from '../../kit/client.js'
import type { Draw } from '../../kit/draw.js'
import type { LedgerRecord } from '../../sandbox/chain/ledger.js'
import type { Stage } from '../world/stage.js'

/** Genuine tips in SOL and USDC. Returns their records. */
export async function landTips(
  { url, sandbox, creators, supporters }: Stage,
  count: number,
): Promise<LedgerRecord[]> {
  const landed: LedgerRecord[] = []
  for (let n = 0; n < count; n++) {
    const [creator, supporter] = [creators[n % creators.length], supporters[n % supporters.length]]
    if (creator === undefined || supporter === undefined)
      throw new Error('a tip needs a creator and a supporter')
    const { body } = await requestUntilAnswered(url, [
      'POST',
      '/payments/intent',
      {
        creatorId: creator.userId,
        amount: 1 + n / 100,
        inputTokenMint: n % 2 === 0 ? usdc.mint : solMint,
        sourceWalletAddress: supporter.publicKey.toBase58(),
      },
    ])
    const signed = VersionedTransaction.deserialize(Buffer.from(String(body['transaction']), 'base64'))
    signed.sign([supporter])
    const record = sandbox.chain.ledger.get(sandbox.chain.submit(signed.serialize(), { skipPreflight: true }))
    if (record?.meta.err !== null) throw new Error('a genuine tip did not land')
    landed.push(record)
  }
  return landed
}

type Meta = LedgerRecord['meta']
type Balance = Meta['preTokenBalances'][number]

/** The same transaction with a signature of its own, so that it is another one, and with one to three faults. Its signature is not checked. */
export function mutateRecord(record: LedgerRecord, draw: Draw, wallets: readonly string[]): LedgerRecord {
  const bytes = Buffer.from(record.raw, 'base64')
  const id = randomBytes(64)
  id.copy(bytes, 1)
  let { meta, keys } = record
  for (let fault = draw.whole(1, 3); fault > 0; fault--) {
    const tokens = (change: (balance: Balance) => Balance | undefined): void => {
      const side = draw.happens(0.5) ? 'preTokenBalances' : 'postTokenBalances'
      const at = draw.whole(0, meta[side].length - 1)
      const changed = meta[side].flatMap((one, index) => (index === at ? (change(one) ?? []) : one))
      meta = { ...meta, [side]: changed }
    }
    const lamports = (units: number): void => {
      const side = draw.happens(0.5) ? 'preBalances' : 'postBalances'
      const at = draw.whole(0, meta[side].length - 1)
      meta = { ...meta, [side]: meta[side].map((one, index) => (index === at ? units : one)) }
    }
    const tricks: readonly (() => void)[] = [
      () => tokens((one) => ({ ...one, owner: draw.oneOf(wallets) })),
      () =>
        tokens((one) => ({
          ...one,
          mint: draw.oneOf([solMint, usdc.mint, encodeBase58(id.subarray(0, 32))]),
        })),
      () => tokens((one) => ({ ...one, accountIndex: draw.oneOf([0, 1, 2, 3, -1, 999, 0.5]) })),
      () => tokens((one) => ({ ...one, programId: 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb' })),
      () =>
        tokens((one) => ({
          ...one,
          uiTokenAmount: { ...one.uiTokenAmount, amount: draw.oneOf(hostileAmounts) },
        })),
      () => tokens(() => undefined),
      () => lamports(draw.oneOf([0, -1, 2 ** 53, 2 ** 63, 0.5, 1, 5_000_000_000])),
      () => {
        meta = { ...meta, preBalances: meta.postBalances, postBalances: meta.preBalances }
      },
      () => {
        meta = { ...meta, preTokenBalances: meta.postTokenBalances, postTokenBalances: meta.preTokenBalances }
      },
      () => {
        meta = { ...meta, preBalances: meta.preBalances.slice(draw.whole(0, 3)) }
      },
      () => {
        meta = { ...meta, fee: draw.oneOf([0, -5000, 2 ** 60, 5_000_000_000]) }
      },
      () => {
        meta = {
          ...meta,
          err: draw.oneOf<Meta['err']>(['AccountInUse', { InstructionError: [0, { Custom: 1 }] }]),
        }
      },
      () => {
        const loaded = [draw.oneOf(wallets)]
        keys = [...keys, ...loaded]
        meta = { ...meta, loadedAddresses: { writable: loaded, readonly: loaded } }
      },
      // Behind the signatures, where header, accounts and instructions are.
      () => {
        bytes[65 + draw.whole(0, Math.min(120, bytes.length - 66))] = draw.whole(0, 255)
      },
      () => {
        bytes[0] = draw.whole(0, 255)
      },
    ]
    draw.oneOf(tricks)()
  }
  return { ...record, signature: encodeBase58(id), raw: bytes.toString('base64'), keys, meta }
}

const hostileAmounts = [
  '0',
  '1',
  '-1',
  '18446744073709551615',
  '9'.repeat(20),
  '9'.repeat(30),
  '',
  '1e9',
  '0x10',
  '1.5',
]

/** What a wallet got of a token by the balances of a transaction, counted in another way than the service does. */
export function gainOf(
  chain: AssociatedAccounts,
  transaction: ChainTransaction,
  wallet: string,
  mint: string,
): bigint {
  const account = chain.associatedAccount(wallet, mint)
  const inToken = transaction.tokens
    .filter((one) => one.account === account && one.mint === mint && one.classic)
    .reduce((sum, { delta }) => sum + delta, 0n)
  return mint === solMint ? (transaction.lamports.get(wallet) ?? 0n) + inToken : inToken
}

/** Reads what a node answers as the verifier does. Undefined: it proves nothing. */
export function readRecord({
  signature,
  slot,
  blockTime,
  raw,
  meta,
}: LedgerRecord): ChainTransaction | undefined {
  return decodeTransaction(signature, { slot, blockTime, meta, transaction: [raw, 'base64'] })
}

interface Scene {
  readonly creators: ReadonlySet<string>
  readonly treasury: string
  readonly sender: string
}

/** Money of the tip that a transaction is taken for which its balances do not show. Undefined: it is no tip. */
export function matchFaults(
  chain: AssociatedAccounts,
  record: LedgerRecord,
  { creators, treasury, sender }: Scene,
): string[] | undefined {
  const transaction = readRecord(record)
  if (transaction === undefined) return undefined
  const claims = [...creators].map((creatorWallet) => ({
    creatorWallet,
    sender,
    amount: '1',
    tokenSymbol: 'USDC',
    message: null,
    intentId: null,
  }))
  const tip = matchTip(chain, {
    transaction,
    intents: [],
    claims,
    creators,
    prices: new Map([[solMint, '150']]),
    treasury,
    notBefore: new Date(0),
  })
  if (tip === undefined) return undefined
  const credited = [...tip.credits].map(([wallet, micro]) => [wallet, usdc.mint, micro] as const)
  const received = [tip, ...(tip.further ?? [])].map(
    (one) => [one.recipient, one.token.mint, one.received] as const,
  )
  return [...credited, ...received]
    .filter(
      ([wallet, mint, units]) =>
        units <= 0n || units !== gainOf(chain, transaction, wallet, mint) || transaction.signers.has(wallet),
    )
    .map(
      ([wallet, mint, units]) => `${wallet} is given ${units} of ${mint} by ${JSON.stringify(record.meta)}`,
    )
}
