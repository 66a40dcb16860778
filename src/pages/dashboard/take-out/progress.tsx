import type { Wallet } from '@wallet-standard/base'
import { words } from '../../i18n/dashboard.js'
import { explorerUrl } from '../../lib/solana.js'
import { Announcer, Button, CopyButton, Fact, type IconName, LinkButton, Notice } from '../../ui/kit.js'
import type { Transfer, TransferAnswer } from '../answers.js'
import { useNow } from '../dates.js'
import { useChange, useFocus } from '../parts/focus.js'
import { FaultNotice, Unread } from '../parts/notices.js'
import { useWallets, WalletButton } from '../parts/wallets.js'
import { useLoad, usePolling, useSubmit } from '../requests.js'
import { handIn, rpcUrl, signTransfer, transfersPath, useFee, useSubmission } from './submission.js'
import { exactAmount, isOver, type Stage, signFault, stageOf } from './transfer.js'

const text = words.takeOut

const pollEveryMs = 2000

const looks: Readonly<
  Record<Exclude<Stage, 'sign'>, { tone: 'plain' | 'good' | 'warn' | 'bad'; icon: IconName }>
> = {
  unsigned: { tone: 'plain', icon: 'wait' },
  sending: { tone: 'plain', icon: 'wait' },
  landed: { tone: 'good', icon: 'tick' },
  late: { tone: 'warn', icon: 'wait' },
  final: { tone: 'good', icon: 'tick' },
  failed: { tone: 'bad', icon: 'cross' },
  returned: { tone: 'plain', icon: 'cross' },
}

type ProgressProps = { id: string; onChange: () => void; onRestart: Restart }

/** One take-out: it is signed here, submitted from here, and followed until it is over. A reload or another tab goes on with it. */
export function Progress({ id, onChange, onRestart }: ProgressProps) {
  const load = useLoad<TransferAnswer>(`${transfersPath}/${encodeURIComponent(id)}`)
  const transfer = load.data?.transfer
  usePolling(load.reload, pollEveryMs, transfer !== undefined && !isOver(transfer))
  useChange(transfer?.status, onChange)
  if (transfer !== undefined)
    return <Followed transfer={transfer} onChanged={load.reload} onRestart={onRestart} />
  return (
    <>
      <Unread of={load} />
      {load.fault !== undefined && <Button text={text.another} onPress={() => onRestart()} />}
    </>
  )
}

/** With the take-out that is to be prepared again, if any. */
type Restart = (again?: Transfer) => void

type FollowedProps = { transfer: Transfer; onChanged: () => void; onRestart: Restart }

function Followed({ transfer, onChanged, onRestart }: FollowedProps) {
  const seen = useSubmission(transfer)
  const now = useNow(1000, !isOver(transfer))
  const stage = stageOf(transfer, seen, now)
  const title = text.heads[stage](exactAmount(transfer))
  const heading = useFocus(stage, { atFirst: true })
  return (
    <>
      <Announcer text={title} />
      <h2 ref={heading} tabIndex={-1}>
        {title}
      </h2>
      {stage === 'sign' ? (
        <SignStep
          transfer={transfer}
          secondsLeft={Math.ceil((Date.parse(transfer.expiresAt) - now) / 1000)}
          onChanged={onChanged}
        />
      ) : (
        <Notice {...looks[stage]} text={text.more[stage]} />
      )}
      {transfer.status === 'signed' && rpcUrl() === undefined && (
        // Without an endpoint this page can submit nothing.
        <Notice tone="warn" urgent>
          <p>{text.noEndpoint}</p>
          <CopyButton value={transfer.transaction ?? ''} label={text.complete} named />
        </Notice>
      )}
      {transfer.signature !== null && (
        <>
          <CopyButton value={transfer.signature} label={words.tip.signature} named />
          <LinkButton href={explorerUrl(transfer.signature)} newTab text={words.tip.explorer} />
        </>
      )}
      {stage === 'unsigned' && (
        <Button kind="primary" text={text.again} onPress={() => onRestart(transfer)} />
      )}
      <Button
        kind={stage === 'sign' ? 'quiet' : 'plain'}
        text={stage === 'sign' ? words.cancel : text.another}
        onPress={() => onRestart()}
      />
    </>
  )
}

type SignStepProps = { transfer: Transfer; secondsLeft: number; onChanged: () => void }

function SignStep({ transfer, secondsLeft, onChanged }: SignStepProps) {
  const fee = useFee(transfer)
  const { wallets, searching } = useWallets('solana:signTransaction')
  const sign = useSubmit(async (wallet: Wallet) => {
    const signed = await signTransfer(wallet, transfer)
    await handIn(transfer.id, signed).finally(onChanged)
  })
  return (
    <>
      <dl class="facts">
        <Fact name={text.what} strong>
          {exactAmount(transfer)}
        </Fact>
        <Fact name={text.to}>
          <code class="address">{transfer.wallet}</code>
          <p class="quiet">{text.yours}</p>
        </Fact>
        <Fact name={text.fee}>
          {fee === undefined ? text.feeUnknown : text.feeOf(fee.network)}
          {fee?.opening !== undefined && (
            <p class="quiet">{text.opening(fee.opening, transfer.tokenSymbol)}</p>
          )}
        </Fact>
        <Fact name={text.timeLeft}>{text.seconds(secondsLeft)}</Fact>
      </dl>
      <p class="quiet">{text.signLead}</p>
      <FaultNotice fault={sign.fault && signFault(sign.fault)} />
      {sign.busy && (
        <p role="status" class="quiet">
          {text.signing}
        </p>
      )}
      {wallets.map((wallet) => (
        <WalletButton
          key={wallet.name}
          wallet={wallet}
          text={text.signWith(wallet.name)}
          busy={sign.busy}
          onPress={() => sign.run(wallet)}
        />
      ))}
      {wallets.length === 0 &&
        (searching ? (
          <p class="quiet">{text.searching}</p>
        ) : (
          <Notice tone="warn" icon="wallet" urgent title={text.noWallet} text={text.noWalletMore} />
        ))}
    </>
  )
}
