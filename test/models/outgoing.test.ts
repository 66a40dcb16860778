import test from 'ava'
import { sendMachine, statusMachine } from '../../src/withdrawals/lifecycle.js'
import { neverEnds, Steps } from './checker.js'
import { outgoingModel } from './outgoing/model.js'
import { alone, type PastBug, type Setting } from './outgoing/state.js'
import { findsPastBugs, holds, takesEveryStep, takesLong } from './runs.js'

const steps = new Steps()

/** What is explored together: everything at once has more states than anybody waits for. */
const runs: readonly (Partial<Setting> & { readonly text: string; readonly long?: true })[] = [
  { text: 'a provider that turns', oddities: 2 },
  { text: 'a provider that turns and deduplicates', oddities: 2, deduplicates: true },
  { text: 'a provider that loses what it has accepted', loses: true },
  { text: 'a provider that loses what it has accepted, and deduplicates', loses: true, deduplicates: true },
  { text: 'a second worker that takes over', senders: 2 },
  { text: 'a second worker, and a provider that deduplicates', senders: 2, deduplicates: true },
  { text: 'a command that stands still', slowOperator: true, oddities: 1, long: true },
  {
    text: 'a command that stands still, and a provider that deduplicates',
    slowOperator: true,
    oddities: 1,
    deduplicates: true,
    long: true,
  },
]

for (const { text, long, ...setting } of runs)
  if (long === undefined || takesLong)
    test.serial(`money that leaves is sent once, and all of it ends: ${text}`, (t) =>
      holds(t, outgoingModel({ ...alone, ...setting }, steps)),
    )

test.serial('the model takes the steps of the tables, and no other', (t) => {
  takesEveryStep(t, steps, statusMachine)
  takesEveryStep(t, steps, sendMachine)
})

const both = 'nobody is paid and has the money back'
const bugs: readonly PastBug[] = [
  { fix: 'sending is committed before the request', rule: both },
  { fix: 'a worker that stood still does not send', rule: both },
  { fix: 'a refusal ends only a row with no other request', rule: both, senders: 2, deduplicates: true },
  { fix: 'an answer resets only the request it answers', rule: both, senders: 2, deduplicates: true },
  { fix: 'absence counts after the settle time', rule: both },
  {
    fix: 'without deduplication only a person has it sent again',
    rule: 'the provider executes a reference once',
  },
  { fix: 'a payment after a re-credit is a review', rule: neverEnds, oddities: 2 },
  { fix: 'what was accepted and is shown no more is a review', rule: neverEnds, loses: true },
  {
    fix: 'a command counts the time until its question',
    rule: both,
    deduplicates: true,
    slowOperator: true,
    oddities: 1,
  },
]

findsPastBugs(test, bugs, ({ fix, rule: _, ...setting }) =>
  outgoingModel({ ...alone, ...setting, without: fix }),
)
