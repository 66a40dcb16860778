import type { JSX } from 'preact'
import { useCallback, useState } from 'preact/hooks'
import { words } from '../../i18n/dashboard.js'
import type { Balance, PayoutWallet } from '../answers.js'
import { ClaimsNotice } from '../parts/claims-notice.js'
import { FaultNotice } from '../parts/fault-notice.js'
import { useShown } from '../parts/use-shown.js'
import { StraightToWallet } from '../parts/wallets/straight-to-wallet.js'
import { go, useRoute } from '../route.js'
import { PayoutWalletCard } from '../settings/payout-wallet-card.js'
import { isOver, useLoad } from '../use-load.js'
import { ChooseStep } from './choose-step.js'
import { Progress } from './progress.js'
import type { TakeableToken, Transfer } from './transfer.js'
import { TransferList } from './transfer-list.js'

/** Tokens leave the custody wallet for the creator's own wallet, which signs first. The take-outs are beside it. */
export function TakeOut(): JSX.Element {
  const { query } = useRoute()
  const [version, setVersion] = useState(0)
  const changed = useCallback(() => setVersion((before) => before + 1), [])
  const id = query.get('transfer') ?? undefined
  const open = (transfer: Transfer): void => go('take-out', new URLSearchParams({ transfer: transfer.id }))
  const restart = (again?: Transfer): void => {
    changed()
    go('take-out', again && new URLSearchParams({ mint: again.mint, amount: again.amount }))
  }
  return (
    <div class="withdraw">
      {id === undefined ? (
        <NewTakeOut
          version={version}
          query={query}
          onPrepared={(transfer) => {
            changed()
            open(transfer)
          }}
          onFailed={changed}
        />
      ) : (
        <section class="card">
          <Progress key={id} id={id} onChange={changed} onRestart={restart} />
        </section>
      )}
      <div class="withdraw__lists">
        <TransferList version={version} onOpen={open} />
      </div>
    </div>
  )
}

function NewTakeOut({
  version,
  query,
  onPrepared,
  onFailed,
}: {
  readonly version: number
  readonly query: URLSearchParams
  readonly onPrepared: (transfer: Transfer) => void
  readonly onFailed: () => void
}): JSX.Element {
  const wallet = useLoad<{ payoutWallet: PayoutWallet | null }>('/creators/payout-wallet')
  const tokens = useLoad<{ tokens: readonly TakeableToken[] }>('/creators/wallet/tokens', version)
  const balance = useLoad<{ balance: Balance }>('/creators/balance', version)
  const shown = useShown([wallet, tokens, balance].every(isOver))
  const payoutWallet = wallet.data?.payoutWallet
  const owes = (balance.data?.balance.owedUSDC ?? 0) > 0
  if (!shown || wallet.data === undefined || tokens.data === undefined)
    return (
      <section class="card">
        {shown && (wallet.fault ?? tokens.fault) !== undefined ? (
          <FaultNotice
            fault={wallet.fault ?? tokens.fault}
            tone="warn"
            onRetry={() => {
              wallet.reload()
              tokens.reload()
            }}
          />
        ) : (
          <p class="quiet">{words.loading}</p>
        )}
      </section>
    )
  if (payoutWallet === null || payoutWallet === undefined)
    return (
      <div class="stack">
        <p>{words.takeOut.needsWallet}</p>
        <PayoutWalletCard onChanged={wallet.reload} />
      </div>
    )
  return (
    <section class="card">
      <h2>{words.takeOut.title}</h2>
      <ClaimsNotice balance={balance.data?.balance} />
      {!owes && (
        <ChooseStep
          tokens={tokens.data.tokens}
          wallet={payoutWallet}
          wanted={{ mint: query.get('mint'), amount: query.get('amount') }}
          onPrepared={onPrepared}
          onFailed={onFailed}
        />
      )}
      {payoutWallet.takesTips && <StraightToWallet />}
    </section>
  )
}
