import type { JSX } from 'preact'
import { words } from '../../i18n/dashboard.js'
import { ngn } from '../../lib/money.js'
import { Button } from '../../ui/controls/button.js'
import { Notice } from '../../ui/messages/notice.js'
import type { Rate } from '../answers.js'
import { Fact } from '../parts/fact.js'
import { bodyOf, estimate, type Terms, withdrawnTexts } from './amounts.js'
import type { Flow, FlowEvent, FormStep } from './flow.js'

/** Step 3: review and confirm. Only this step sends the withdrawal. */
export function ReviewStep({
  flow,
  dispatch,
  rate,
  terms,
}: {
  readonly flow: Extract<Flow, { step: FormStep }>
  readonly dispatch: (event: FlowEvent) => void
  readonly rate: Rate | undefined
  readonly terms: Terms
}): JSX.Element {
  const { draft, fault } = flow
  const expected = rate && estimate(draft, rate.rate, terms)
  const [asked, other] = expected ? withdrawnTexts(draft, expected) : []
  const held = expected !== undefined && expected.grossNgn > terms.identitySingleNgn
  const limits = words.review.held(ngn(terms.identitySingleNgn), ngn(terms.identityDailyNgn))
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (expected === undefined) return
        const sent = { key: crypto.randomUUID(), body: bodyOf(draft), draft, at: Date.now() }
        dispatch({ type: 'confirmed', sent })
      }}
    >
      {fault !== undefined && (
        <Notice tone="bad" icon="warn" urgent>
          {words.fault(fault)} {words.withdraw.nothingWithdrawn}
        </Notice>
      )}
      <dl class="facts facts--money">
        <Fact name={words.review.withdraw}>{expected === undefined ? '–' : `${asked} (${other})`}</Fact>
        <Fact name={words.review.rate}>
          {rate === undefined ? words.review.noRate : words.review.perDollar(ngn(rate.rate))}
        </Fact>
        <Fact name={words.review.fee}>{expected === undefined ? '–' : ngn(expected.feeNgn)}</Fact>
        <Fact name={words.review.receive} strong>
          {expected === undefined ? '–' : ngn(expected.netNgn)}
        </Fact>
        <Fact name={words.review.to}>
          <bdi>{draft.accountName}</bdi>
          <br />
          {draft.bankName} · {draft.accountNumber}
        </Fact>
      </dl>
      <p class="quiet">{words.review.rateHint}</p>
      {held ? (
        <Notice tone="warn" icon="wait">
          {limits}
        </Notice>
      ) : (
        <p class="quiet">{limits}</p>
      )}
      <Button kind="primary" type="submit" busy={expected === undefined}>
        {asked === undefined ? words.review.noRate : words.review.confirm(asked)}
      </Button>
      <Button kind="quiet" onPress={() => dispatch({ type: 'back' })}>
        {words.back}
      </Button>
    </form>
  )
}
