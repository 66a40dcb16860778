import { defineCommand } from './support/command.js'
import { outgoing, outgoingOptions } from './support/outgoing/outgoing.js'

/** Shows the money that leaves by the naira provider, and takes the decisions that only a person may take. */
const usage = `npm run ops -- outgoing list [--state <state>] [--older-than <minutes>] [--limit <n>]
npm run ops -- outgoing show <id>
npm run ops -- outgoing act <action> <id>... [--apply --confirm <id> --reason <text>]
npm run ops -- outgoing compare
npm run ops -- outgoing pause|resume [--apply --reason <text>]

<id>: the reference of a withdrawal (FIATPAY-...), the id of a refund (refund_... of a tip, suspense_... from suspense), or the
provider's id of a payment that waits in suspense.

These need no --apply:
  list                    what has not ended, oldest first; exit code 4 while one waits for a person
  show <id>               one with its history
  compare                 compares the provider's list of transfers of the last two days with our withdrawals; exit code 4
                          when they differ
  act ask <reference>...  asks the provider now; the reconciler then follows the answer

Acts on a withdrawal:
  replay <reference>...   sends it again under the same reference. Refused when it may have been sent before, unless the
                          provider does not find it and documents that it refuses a used reference
                          (FIATPAY_DEDUPLICATES)
  release <reference>     sends a withdrawal that waits for an identity, without verifying the creator, or one that waits for a
                          payout limit or the review of a debt
  void <reference>        fails the withdrawal and gives the creator the money back. Only if it was never sent, or is in
                          manual_review and the provider does not find it
  recredit <reference>    credits the creator again after the money of a completed withdrawal came back. Refused within 24
                          hours of the first sight of that, because the provider may still pay it; --now does not wait
  resolve <reference>     ends a mismatch: completes the withdrawal with what was really paid (--paid <naira>), and frees the
                          rest of the hold; with --paid 0 it fails, and all of it is free
  close <reference>       closes the open reviews of a withdrawal that was settled outside the service; moves no money
  reopen <reference>      opens again what close has closed
  adopt <reference>       after a restore: books a withdrawal that the provider has and the database lost, or takes one out of its
                          hold. --creator when the bank account does not say whose it is, --usdc when its debit is known

Acts on a refund that the payouts worker cannot end; refused while one is or may be under way:
  retry <refund>          sends it once more. Only when the provider shows no such refund, although it had time to
  give-back <refund>      gives the creator the money back; what was in suspense waits there again. Only when it was not sent,
                          or the provider shows no such refund
  returned <refund>       records that the payer has the money back in another way. It sends nothing

Acts on a payment in suspense:
  refund <payment>        asks the provider to return it to the payer. Nobody can assign it from then on. The books move when the
                          provider shows it as returned; the payouts worker follows it to that end. Run it again when the provider
                          is not done or gave no answer: it asks the provider's list of refunds before it sends anything again. What
                          the provider refuses waits as before
  returned <payment>      as for a refund

All of them show a plan, and act with --apply, --confirm and --reason; all except release ask the provider first. Every act is
written to the audit log in the same transaction. If two operators run the same one at the same time, it is done once.

  pause                   nothing new is sent once this returns, until resume; withdrawals are accepted and wait
  resume                  sends what waited`

export const command = await defineCommand(import.meta, {
  usage,
  amounts: 'base units',
  options: outgoingOptions,
  allowPositionals: true,
  run: outgoing,
})
