import type { Wallet } from '@wallet-standard/base'
import type { JSX } from 'preact'
import { safeIcon } from '../../../lib/wallets.js'
import { Button } from '../../../ui/controls/button.js'
import { Icon } from '../../../ui/icon.js'

/** Asks a wallet for something. */
export function WalletButton({
  wallet: { icon },
  primary = false,
  text,
  busy,
  onPress,
}: {
  readonly wallet: Wallet
  readonly primary?: boolean
  readonly text: string
  readonly busy: boolean
  readonly onPress: () => void
}): JSX.Element {
  const source = safeIcon(icon)
  return (
    <Button kind={primary ? 'primary' : 'plain'} busy={busy} onPress={onPress}>
      {source === '' ? <Icon name="wallet" /> : <img src={source} alt="" width={24} height={24} />} {text}
    </Button>
  )
}
