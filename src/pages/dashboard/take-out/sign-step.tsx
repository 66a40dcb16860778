import type { Wallet } from '@wallet-standard/base'
import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { Notice } from '../../ui/messages/notice.js'
import { Fact } from '../parts/fact.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { useWallets } from '../parts/wallets/use-wallets.js'
import { WalletButton } from '../parts/wallets/wallet-button.js'
import { useSubmit } from '../use-submit.js'
import { handIn, signTransfer } from './sign-transfer.js'
import { exactAmount, signFault, type Transfer } from './transfer.js'
import { useFee } from './use-fee.js'

/** What the wallet is about to sign, and the wallets that can. */
export function SignStep({
  transfer,
  secondsLeft,
  onChanged,
}: {
  readonly transfer: Transfer
  readonly secondsLeft: number
  /** The service's record of it may have changed. */
  readonly onChanged: () => void
}): JSX.Element {
  const fee = useFee(transfer)
  const { wallets, searching } = useWallets('solana:signTransaction')
  const sign = useSubmit(async (wallet: Wallet) => {
    const signed = await signTransfer(wallet, transfer)
    await handIn(transfer.id, signed).finally(onChanged)
  })
  return (
    <>
      <dl class="facts">
        <Fact name={words.takeOut.what} strong>
          {exactAmount(transfer)}
        </Fact>
        <Fact name={words.takeOut.to}>
          <code class="address">{transfer.wallet}</code>
          <p class="quiet">{words.takeOut.yours}</p>
        </Fact>
        <Fact name={words.takeOut.fee}>
          {fee === undefined ? words.takeOut.feeUnknown : words.takeOut.feeOf(fee.network)}
          {fee?.opening !== undefined && (
            <p class="quiet">{words.takeOut.opening(fee.opening, transfer.tokenSymbol)}</p>
          )}
        </Fact>
        <Fact name={words.takeOut.timeLeft}>{words.takeOut.seconds(secondsLeft)}</Fact>
      </dl>
      <p class="quiet">{words.takeOut.signLead}</p>
      <FaultNotice fault={sign.fault && signFault(sign.fault)} />
      {sign.busy && (
        <p role="status" class="quiet">
          {words.takeOut.signing}
        </p>
      )}
      {wallets.map((wallet) => (
        <WalletButton
          key={wallet.name}
          wallet={wallet}
          primary
          text={words.takeOut.signWith(wallet.name)}
          busy={sign.busy}
          onPress={() => sign.run(wallet)}
        />
      ))}
      {wallets.length === 0 &&
        (searching ? (
          <p class="quiet">{words.takeOut.searching}</p>
        ) : (
          <Notice tone="warn" icon="wallet" urgent>
            <strong>{words.takeOut.noWallet}</strong>
            <p>{words.takeOut.noWalletMore}</p>
          </Notice>
        ))}
    </>
  )
}
