import test from 'ava'
import { tipMachine } from '../../src/tips/lifecycle.js'
import { Steps } from './checker.js'
import { findsPastBugs, holds, takesEveryStep } from './runs.js'
import { tipModel } from './tip.js'
import type { TipFix } from './tip-chain.js'

const steps = new Steps()

test.serial('what a creator may withdraw is on the chain for good, with forks and two verifiers', (t) => {
  holds(t, tipModel({ verifiers: 2, liar: false, large: false }, steps))
  holds(t, tipModel({ verifiers: 2, liar: false, large: true }, steps))
})

test.serial('the same of a large tip beside an endpoint that lies', (t) =>
  holds(t, tipModel({ verifiers: 1, liar: true, large: true }, steps)),
)

test.serial('the model takes the steps of a crypto tip, and no other', (t) => {
  const ofNaira = ['pending > failed', 'pending > cancelled', 'failed > confirmed', 'cancelled > confirmed']
  takesEveryStep(t, steps, tipMachine, ofNaira)
})

const unbacked = 'only what the chain has for good may be withdrawn'
const givenUp = 'a payment that may still arrive is not given up'
const bugs: readonly { readonly fix: TipFix; readonly rule: string; readonly liar?: false }[] = [
  { fix: 'a credit is pending until its transaction is final', rule: unbacked, liar: false },
  { fix: 'a large credit waits for every endpoint', rule: unbacked },
  { fix: 'a tip fails only when every endpoint has lost it', rule: givenUp },
  { fix: 'vanishing takes longer than a blockhash lives', rule: givenUp },
  {
    fix: 'what was credited without a tip is not credited again',
    rule: 'a payment is credited once',
    liar: false,
  },
  { fix: 'a transaction that has moved is read again', rule: unbacked, liar: false },
]

findsPastBugs(test, bugs, ({ fix, liar = true }) =>
  tipModel({ verifiers: 1, liar, large: liar, without: fix }),
)
