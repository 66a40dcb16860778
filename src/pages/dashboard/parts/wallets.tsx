import type { Wallet } from '@wallet-standard/base'
import { useEffect, useState } from 'preact/hooks'
import { TippingError } from '../../../sdk/client/errors.js'
import { type Thrown, walletFault } from '../../lib/wallet-faults.js'
import { onWalletsChange, safeIcon, walletsThat } from '../../lib/wallets.js'
import { Button, Icon } from '../../ui/kit.js'

/** Wallets register within this time after the page has loaded. */
const searchMs = 1500

/** The wallets of this browser with a feature. They may register at any time. */
export function useWallets(feature: Parameters<typeof walletsThat>[0]): {
  readonly wallets: readonly Wallet[]
  readonly searching: boolean
} {
  const [wallets, setWallets] = useState(() => walletsThat(feature))
  const [searching, setSearching] = useState(true)
  useEffect(() => {
    const timer = setTimeout(() => setSearching(false), searchMs)
    const stop = onWalletsChange(() => setWallets(walletsThat(feature)))
    return () => {
      clearTimeout(timer)
      stop()
    }
  }, [feature])
  return { wallets, searching }
}

const codes: Readonly<Record<string, string>> = {
  rejected: 'wallet_rejected',
  busy: 'wallet_busy',
  disconnected: 'wallet_other_account',
}

/** Runs what a wallet is asked for. Throws TippingError, of a wallet's refusals with a code of the dashboard's own. */
export async function askWallet<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof TippingError) throw error
    throw walletRefusal(codes[walletFault(error as Thrown)] ?? 'wallet_failed')
  }
}

/** The status is one of a refusal: repeating it by itself would ask the person again. */
export const walletRefusal = (code: string): TippingError => new TippingError(code, code, 400)

type WalletButtonProps = { wallet: Wallet; text: string; busy: boolean; onPress: () => void }

export function WalletButton({ wallet: { icon }, text, busy, onPress }: WalletButtonProps) {
  const source = safeIcon(icon)
  return (
    <Button
      kind="primary"
      busy={busy}
      text={
        <>
          {source === '' ? <Icon name="wallet" /> : <img src={source} alt="" width={24} height={24} />} {text}
        </>
      }
      onPress={onPress}
    />
  )
}
