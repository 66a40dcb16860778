import { getWallets } from '@wallet-standard/app'

/** The wallets of this page. */
export function mount(): number {
  return getWallets().get().length
}
