import type { Knex } from 'knex'
import { unsealKey } from '../../accounts/wallets/seal-key.js'
import { SealBroken } from '../../kernel/aead.js'
import { encodeBase58 } from '../../kernel/base58.js'
import { signMessageBytes, verifyMessageSignature } from '../../kernel/ed25519.js'
import { type CustodyBook, type CustodyMove, lockCustody, moveCustody } from '../../ledger/custody.js'
import { query } from '../../platform/database/database.js'
import { isDatabaseKnown } from '../../platform/database/restore-guard.js'
import type { WalletAccount } from '../../ports/chain.js'
import type { TokenSource } from '../../ports/custody-chain.js'
import type { Vault } from '../../ports/vault.js'
import type { Services } from '../../services.js'
import { decideSigning, type MoveFacts, type SigningFault } from './decide-signing.js'
import { rules, type SigningKind } from './rules.js'

export type CustodianNeeds = Pick<Services, 'config' | 'chain' | 'custodyChain' | 'metrics' | 'log'> & {
  readonly vault: Vault
}

/** A message that is to be signed, and what the row says that it does. */
export interface SigningRequest {
  readonly kind: SigningKind
  readonly payer: string
  readonly message: Uint8Array
  readonly moves: readonly (CustodyMove & Pick<MoveFacts, 'referenceKey'>)[]
  /** What `readMoveAccounts` read shortly before, outside of the transaction. */
  readonly accounts: MoveAccounts
  /** The chain has simulated the message shortly before, and it would fail. */
  readonly wouldFail: boolean
}

/** Nothing is signed. The transaction must be rolled back: the books may be locked, and nothing was booked. */
export class SigningRefused extends Error {
  override name = 'SigningRefused'
  readonly fault: SigningFault

  constructor(fault: SigningFault) {
    super(fault.reason)
    this.fault = fault
  }
}

interface WalletRow {
  readonly id: bigint
  readonly userId: string
  readonly publicKey: string
  readonly sealedSecret: Buffer
  readonly keyVersion: number
}

/**
 * The only place that signs with creators' keys. It takes the amounts from the row, and everything else from other rows: the
 * custody wallets, where the tokens may go, how much the books allow under the creators' ledger locks. It reads the message
 * again from its bytes, books what it moves as in flight, and returns the signatures, base58 by address. Commit them in the same
 * transaction, before anybody else sees them. Throws SigningRefused.
 */
export async function signMessage(
  trx: Knex.Transaction,
  services: CustodianNeeds,
  request: SigningRequest,
): Promise<Readonly<Record<string, string>>> {
  const { kind, payer, message, moves } = request
  if (!(await isDatabaseKnown(trx)))
    throw new SigningRefused({ reason: 'the database was restored: run restore-check', kind: 'restored' })
  const { chain, custodyChain, metrics, log } = services
  const userIds = [...new Set(moves.map(({ userId }) => userId))]
  const wallets = await readWallets(trx, userIds)
  const { facts, destinations } = await readFacts(trx, services, request, userIds, wallets)
  const fault = decideSigning({
    payer,
    message: custodyChain.readMessage(message),
    moves: facts,
    guards: rules[kind].guards,
    custodyWallets: await custodyWalletsAmong(trx, [payer, ...destinations]),
    associatedAccount: chain.associatedAccount,
  })
  if (fault?.kind === 'custody_short') {
    metrics.alerts.inc({ kind: 'custody_short' })
    log.error({ userId: fault.userId }, 'a custody wallet holds less than the book of custody says')
  }
  if (fault !== undefined) throw new SigningRefused(fault)
  if (request.wouldFail) throw new SigningRefused({ reason: 'the chain would refuse it', kind: 'would_fail' })
  await moveCustody(trx, 'sign', moves)
  const signatures: Record<string, string> = {}
  for (const wallet of wallets.values())
    signatures[wallet.publicKey] = await signWith(services.vault, wallet, message)
  return signatures
}

/** Signs with one wallet's key, which is overwritten afterwards. */
async function signWith(vault: Vault, wallet: WalletRow, message: Uint8Array): Promise<string> {
  const { id: walletId, sealedSecret, userId, publicKey, keyVersion } = wallet
  const secret = await unsealKey(vault, sealedSecret, { walletId, userId, publicKey, keyVersion }).catch(
    (error: unknown) => {
      if (!(error instanceof SealBroken)) throw error
      throw new SigningRefused({ reason: 'the key of the wallet does not open', userId })
    },
  )
  try {
    const signature = encodeBase58(signMessageBytes(secret, message))
    if (!(await verifyMessageSignature(publicKey, message, signature)))
      throw new SigningRefused({ reason: 'the sealed key is of another wallet', userId })
    return signature
  } finally {
    secret.fill(0)
  }
}

async function readFacts(
  trx: Knex.Transaction,
  services: CustodianNeeds,
  { kind, moves, accounts }: SigningRequest,
  userIds: readonly string[],
  wallets: ReadonlyMap<string, WalletRow>,
): Promise<{ facts: MoveFacts[]; destinations: readonly string[] }> {
  const rule = rules[kind]
  const destinations = await rule.destinations(trx, services, userIds)
  const books = new Map<string, { book: CustodyBook; limit: bigint }>()
  for (const mint of [...new Set(moves.map((move) => move.mint))].sort()) {
    const locked = await lockCustody(trx, userIds, mint)
    const limits = await rule.limits(trx, services, locked)
    for (const [index, book] of locked.entries())
      books.set(`${book.userId} ${mint}`, { book, limit: limits[index] ?? 0n })
  }
  const facts = moves.map((move): MoveFacts => {
    const wallet = wallets.get(move.userId)?.publicKey
    const destination = destinations.get(move.userId)
    const { book, limit = 0n } = books.get(`${move.userId} ${move.mint}`) ?? {}
    const { mint } = move
    return {
      ...move,
      wallet,
      destination,
      limit,
      book,
      source: wallet === undefined ? undefined : accounts.of({ wallet, mint }),
      target: destination === undefined ? undefined : accounts.of({ wallet: destination, mint }),
    }
  })
  return { facts, destinations: [...destinations.values()] }
}

/** What the accounts of moves hold on the chain, by wallet and mint. */
export interface MoveAccounts {
  of(source: WalletAccount): TokenSource | undefined
}

const keyOf = ({ wallet, mint }: WalletAccount): string => `${wallet} ${mint}`

/**
 * Reads both accounts of each payment, at `confirmed`: what our books count as final is there for certain. Not in a
 * transaction, because it calls the network.
 */
export async function readMoveAccounts(
  { custodyChain }: Pick<CustodianNeeds, 'custodyChain'>,
  payments: readonly { readonly from: string; readonly to: string; readonly mint: string }[],
): Promise<MoveAccounts> {
  const names = payments.flatMap(({ from, to, mint }) => [
    { wallet: from, mint },
    { wallet: to, mint },
  ])
  const unique = [...new Map(names.map((name) => [keyOf(name), name])).values()]
  const read = await custodyChain.readSources(unique, 'confirmed')
  const found = new Map(unique.map((name, index) => [keyOf(name), read[index]]))
  return { of: (name) => found.get(keyOf(name)) }
}

async function readWallets(trx: Knex, userIds: readonly string[]): Promise<Map<string, WalletRow>> {
  const rows = await query<WalletRow>(trx, {
    name: 'custodian.wallets',
    text: /* sql */ `
      select id, user_id as "userId", public_key as "publicKey", sealed_secret as "sealedSecret",
        key_version as "keyVersion"
      from wallets where user_id = any($1::uuid[]) and public_key is not null`,
    values: [userIds],
  })
  return new Map(rows.map((row) => [row.userId, row]))
}

async function custodyWalletsAmong(trx: Knex, addresses: readonly string[]): Promise<ReadonlySet<string>> {
  const rows = await query<{ wallet: string }>(trx, {
    name: 'custodian.are-custody',
    text: 'select public_key as wallet from wallets where public_key = any($1::text[])',
    values: [[...new Set(addresses)]],
  })
  return new Set(rows.map(({ wallet }) => wallet))
}
