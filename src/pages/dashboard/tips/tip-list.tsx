import { words } from '../../i18n/dashboard.js'
import { ngn, shortNgn, usd } from '../../lib/money.js'
import { explorerUrl } from '../../lib/solana.js'
import { amountText, cut, fiatSymbol, paidWords, senderText } from '../../lib/tip-text.js'
import { Button, CopyButton, Fact, Icon, LinkButton, Steps, TextButton } from '../../ui/kit.js'
import type { ListedTip } from '../answers.js'
import { agoText, momentText, useNow } from '../dates.js'
import { Dialog } from '../parts/forms.js'
import { useNaira } from '../parts/rate.js'
import { Mark, OpenRow, Status } from '../parts/rows.js'
import { go, useDrawer } from '../route.js'
import { useSession } from '../session.js'
import { GivenBack } from './refunds.js'
import { isShort, ShortMark, ShortTip } from './short-tip.js'

const senderLength = 60
const messageLength = 160
/** API: the sender of a tip whose payer is not named. */
const anonymous = 'Anonymous'

/** The amount that was paid: naira for a naira tip, otherwise the token amount. */
function paidText({ amount, tokenSymbol, fiatDetails }: ListedTip): string {
  return fiatDetails === null ? amountText(amount, tokenSymbol) : shortNgn(fiatDetails.amountNgn)
}

function isOnChain({ tokenSymbol }: Pick<ListedTip, 'tokenSymbol'>): boolean {
  return tokenSymbol !== fiatSymbol
}

/** The value in naira at the current rate. Undefined for a naira tip, which shows the naira that were paid. */
function useNairaOf({ fiatDetails, valueUsd }: ListedTip): string | undefined {
  const naira = useNaira()
  return fiatDetails === null ? naira(valueUsd) : undefined
}

interface TipListProps {
  tips: readonly ListedTip[]
  onGivenBack: (tip: ListedTip, dollars: number) => void
  /** Something about a tip was decided: the list is to be read again. */
  onDecided: () => void
}

export function TipList({ tips, onGivenBack, onDecided }: TipListProps) {
  const drawer = useDrawer()
  const now = useNow()
  const open = tips.find(({ signature }) => signature === drawer.open)
  return (
    <>
      <ul class="rows">
        {tips.map((tip) => (
          <TipRow key={tip.signature} tip={tip} now={now} onOpen={() => drawer.show(tip.signature)} />
        ))}
      </ul>
      {open !== undefined && (
        <TipDrawer
          tip={open}
          onGivenBack={(dollars) => onGivenBack(open, dollars)}
          onDecided={onDecided}
          onClose={drawer.close}
        />
      )}
    </>
  )
}

function TipRow({ tip, now, onOpen }: { tip: ListedTip; now: number; onOpen: () => void }) {
  const { timestamp, valueUsd, status } = tip
  const { sender, message } = paidWords(tip)
  const naira = useNairaOf(tip)
  return (
    <OpenRow
      icon={
        <span class="tip-row__kind" title={isOnChain(tip) ? words.tips.crypto : words.tips.naira}>
          <Icon name={isOnChain(tip) ? 'wallet' : 'bank'} />
        </span>
      }
      worth={
        <>
          <span class="number strong">{usd(valueUsd)}</span>
          {naira !== undefined && <span class="quiet number">{naira}</span>}
        </>
      }
      createdAt={timestamp}
      ago={agoText(timestamp, now)}
      onOpen={onOpen}
    >
      <span>
        <bdi class="strong">{senderText(tip.senderName ?? sender, senderLength)}</bdi> {words.tips.tipped}{' '}
        <span class="number tip-row__paid">{paidText(tip)}</span>
      </span>
      {message && <bdi class="quiet">“{cut(message, messageLength)}”</bdi>}
      {isShort(tip) ? <ShortMark tip={tip} /> : status !== 'confirmed' && <Status status={status} />}
      {tip.disputed === true && <Mark tone="warn" icon="wait" text={words.refund.isDisputed} />}
      {tip.reference !== undefined && (
        <bdi class="quiet">
          {words.tip.yours}: {tip.reference}
        </bdi>
      )}
      {tip.refundedAmount !== undefined && (
        <span class="quiet">{words.refund.given(usd(tip.refundedAmount))}</span>
      )}
    </OpenRow>
  )
}

interface TipDrawerProps {
  tip: ListedTip
  onGivenBack: (dollars: number) => void
  onDecided: () => void
  onClose: () => void
}

function TipDrawer({ tip, onGivenBack, onDecided, onClose }: TipDrawerProps) {
  const { me } = useSession()
  const { sender, message } = paidWords(tip)
  const naira = useNairaOf(tip)
  const { signature, status, timestamp, valueUsd, fiatDetails } = tip
  return (
    <Dialog title={words.tip.title(paidText(tip))} side onClose={onClose}>
      <p>{isShort(tip) ? <ShortMark tip={tip} /> : <Status status={status} />}</p>
      {message && (
        <blockquote class="quote">
          <bdi>{message}</bdi>
        </blockquote>
      )}
      <dl class="facts">
        <SenderFact sender={sender} name={tip.senderName} />
        <Fact name={words.tip.value}>
          {usd(valueUsd)}
          {naira !== undefined && ` (${naira})`}
        </Fact>
        {tip.receivedAmount !== null && (
          <Fact name={words.tip.received}>
            {fiatDetails === null ? amountText(tip.receivedAmount, tip.tokenSymbol) : usd(tip.receivedAmount)}
          </Fact>
        )}
        <NairaFacts of={tip} />
        {tip.refundedAmount !== undefined && (
          <Fact name={words.tip.givenBack}>{usd(tip.refundedAmount)}</Fact>
        )}
        <ReferenceFact of={tip} />
        <Fact name={words.tip.recorded}>{momentText(timestamp)}</Fact>
        <Fact name={isOnChain(tip) ? words.tip.signature : words.tip.reference}>
          <code>{signature}</code>
        </Fact>
      </dl>
      <Steps
        stacked
        steps={[words.tip.recorded, words.tip.timeline[status]]}
        at={status === 'confirmed' ? 2 : 1}
      />
      {isShort(tip) && <ShortTip tip={tip} onDecided={onDecided} />}
      {fiatDetails !== null && status === 'confirmed' && <GivenBack tip={tip} onGivenBack={onGivenBack} />}
      {isOnChain(tip) && tip.recipient !== me.walletPublicKey && <p class="quiet">{words.tip.toWallet}</p>}
      <CopyButton value={signature} label={isOnChain(tip) ? words.tip.signature : words.tip.reference} />
      {isOnChain(tip) && <LinkButton href={explorerUrl(signature)} newTab text={words.tip.explorer} />}
      <Button kind="primary" text={words.close} onPress={onClose} />
    </Dialog>
  )
}

function SenderFact({ sender, name }: { readonly sender: string; readonly name: string | undefined }) {
  return (
    <Fact name={words.tip.from}>
      {name !== undefined && <bdi>{name} </bdi>}
      <bdi>{sender || words.tip.unpaidFrom}</bdi>
      {sender !== '' && sender !== anonymous && (
        <TextButton text={words.tip.history} onPress={() => go('tips', new URLSearchParams({ sender }))} />
      )}
    </Fact>
  )
}

function NairaFacts({ of: { fiatDetails, status } }: { readonly of: ListedTip }) {
  if (fiatDetails === null) return null
  const isPaid = status === 'confirmed'
  return (
    <>
      <Fact name={isPaid ? words.tip.paidNgn : words.tip.askedNgn}>{ngn(fiatDetails.amountNgn)}</Fact>
      {isPaid && <Fact name={words.tip.fee}>{usd(fiatDetails.platformFee)}</Fact>}
    </>
  )
}

/** The integrator's own name for the tip. */
function ReferenceFact({ of: { reference } }: { readonly of: ListedTip }) {
  if (reference === undefined) return null
  return (
    <Fact name={words.tip.yours} copied={reference}>
      <bdi>{reference}</bdi>
    </Fact>
  )
}
