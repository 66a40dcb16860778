import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { ngn, usd } from '../../lib/money.js'
import { explorerUrl } from '../../lib/solana.js'
import { amountText, paidWords } from '../../lib/tip-text.js'
import { Button, LinkButton } from '../../ui/controls/button.js'
import { CopyButton } from '../../ui/controls/copy-button.js'
import { Dialog } from '../../ui/messages/dialog.js'
import type { ListedTip, Rate } from '../answers.js'
import { momentText } from '../dates.js'
import { Fact } from '../parts/fact.js'
import { Status } from '../parts/status.js'
import { useSession } from '../session.js'
import { Refunds } from './refund/refunds.js'
import { isOnChain, nairaOf, paidText } from './tip-row.js'

/** The details of one tip. */
export function TipDrawer({
  tip,
  rate,
  onGivenBack,
  onClose,
}: {
  readonly tip: ListedTip
  readonly rate: Rate | undefined
  /** How much of the tip's amount is given back by now. */
  readonly onGivenBack: (dollars: number) => void
  readonly onClose: () => void
}): JSX.Element {
  const { me } = useSession()
  const { sender, message } = paidWords(tip)
  const naira = nairaOf(tip, rate)
  const { signature, status, timestamp, valueUsd, fiatDetails } = tip
  return (
    <Dialog title={words.tip.title(paidText(tip))} side onClose={onClose}>
      <p>
        <Status status={status} />
      </p>
      {message && (
        <blockquote class="quote">
          <bdi>{message}</bdi>
        </blockquote>
      )}
      <dl class="facts">
        <Fact name={words.tip.from}>
          <bdi>{sender || words.tip.unpaidFrom}</bdi>
        </Fact>
        <Fact name={words.tip.value}>
          {usd(valueUsd)}
          {naira !== undefined && ` (${naira})`}
        </Fact>
        {tip.receivedAmount !== null && (
          <Fact name={words.tip.received}>
            {fiatDetails === null ? amountText(tip.receivedAmount, tip.tokenSymbol) : usd(tip.receivedAmount)}
          </Fact>
        )}
        {fiatDetails !== null && (
          <Fact name={status === 'confirmed' ? words.tip.paidNgn : words.tip.askedNgn}>
            {ngn(fiatDetails.amountNgn)}
          </Fact>
        )}
        {fiatDetails !== null && status === 'confirmed' && (
          <Fact name={words.tip.fee}>{usd(fiatDetails.platformFee)}</Fact>
        )}
        {tip.refundedAmount !== undefined && (
          <Fact name={words.tip.givenBack}>{usd(tip.refundedAmount)}</Fact>
        )}
        <Fact name={words.tip.recorded}>{momentText(timestamp)}</Fact>
        <Fact name={isOnChain(tip) ? words.tip.signature : words.tip.reference}>
          <code>{signature}</code>
        </Fact>
      </dl>
      <ol class="timeline">
        <li class="timeline__point timeline__point--done">{words.tip.timeline.recorded}</li>
        <li class={`timeline__point ${status === 'confirmed' ? 'timeline__point--done' : ''}`}>
          {words.tip.timeline[status]}
        </li>
      </ol>
      {fiatDetails !== null && status === 'confirmed' && <Refunds tip={tip} onGivenBack={onGivenBack} />}
      {isOnChain(tip) && tip.recipient !== me.walletPublicKey && <p class="quiet">{words.tip.toWallet}</p>}
      <CopyButton value={signature} label={isOnChain(tip) ? words.tip.signature : words.tip.reference} />
      {isOnChain(tip) && (
        <LinkButton href={explorerUrl(signature)} newTab>
          {words.tip.explorer}
        </LinkButton>
      )}
      <Button kind="primary" onPress={onClose}>
        {words.close}
      </Button>
    </Dialog>
  )
}
