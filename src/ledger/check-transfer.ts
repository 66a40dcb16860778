import { accountKey, type Entry } from './accounts.js'

/** A `credit` is final. A `reserve` is resolved later by one `post` or one `void`. */
export type TransferKind = 'credit' | 'reserve' | 'post' | 'void'

export interface Transfer {
  /** Unique: the same idem is posted once. At most 200 characters. */
  readonly idem: string
  readonly kind: TransferKind
  /** What the transfer is about, such as a withdrawal's reference. The creator sees it. At most 200 characters. */
  readonly ref: string
  /** The idem of the reserve that a `post` or `void` resolves. */
  readonly resolves?: string
  /** At least two; each account once; zero in each currency. */
  readonly entries: readonly Entry[]
}

/** Throws an error with the reasons when a transfer breaks the rules. The database refuses it too. */
export function checkTransfer({ idem, entries }: Transfer): void {
  const sums = new Map<string, bigint>()
  for (const { account, amount } of entries)
    sums.set(account.currency, (sums.get(account.currency) ?? 0n) + amount)
  const faults = [
    entries.length < 2 && 'it needs two entries',
    entries.some(({ amount }) => amount === 0n) && 'an entry has the amount zero',
    new Set(entries.map(({ account }) => accountKey(account))).size !== entries.length &&
      'an account occurs twice',
    [...sums.values()].some((sum) => sum !== 0n) && 'it does not sum to zero',
  ].filter((fault) => fault !== false)
  if (faults.length > 0) throw new Error(`Transfer ${idem} is no transfer: ${faults.join(', ')}`)
}

/** Whether two transfers with the same idem are equal. The order of the entries does not matter. */
export function sameContent(one: Transfer, other: Transfer): boolean {
  return contentOf(one) === contentOf(other)
}

function contentOf({ kind, ref, resolves, entries }: Transfer): string {
  const amounts = entries.map(({ account, amount }) => `${accountKey(account)} ${amount}`).sort()
  return JSON.stringify([kind, ref, resolves ?? null, amounts])
}
