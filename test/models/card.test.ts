import test from 'ava'
import { disputeMachine, refundStatusMachine } from '../../src/fiat/lifecycle.js'
import { cardModel } from './card.js'
import type { CardFix } from './card-payment.js'
import { neverEnds, Steps } from './checker.js'
import { findsPastBugs, holds, takesEveryStep, takesLong } from './runs.js'

const steps = new Steps()

test.serial('what comes back of a card payment is lost once, by whoever had it', (t) =>
  holds(t, cardModel({ oddities: takesLong ? 3 : 2 }, steps)),
)

test.serial('the model takes the steps of disputes and refunds, and no other', (t) => {
  takesEveryStep(t, steps, disputeMachine)
  // How a refund is sent is in the model of outgoing money.
  takesEveryStep(t, steps, refundStatusMachine, ['processing > failed'])
})

const bugs: readonly { readonly fix: CardFix; readonly rule: string }[] = [
  {
    fix: 'card money is pending for some days',
    rule: 'card money cannot be withdrawn before its days are over',
  },
  {
    fix: 'a refund that fails is pending again',
    rule: 'card money cannot be withdrawn before its days are over',
  },
  { fix: 'a lost dispute waits for the refunds of its payment', rule: neverEnds },
  {
    fix: 'what a failed refund leaves is held for the dispute',
    rule: 'what an open dispute may take is held',
  },
  { fix: 'a refund that failed and was paid after all is booked', rule: neverEnds },
]

findsPastBugs(test, bugs, ({ fix }) => cardModel({ oddities: 1, without: fix }))
