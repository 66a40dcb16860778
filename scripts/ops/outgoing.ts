import { defineCommand } from './support/command.js'
import { outgoing, outgoingOptions } from './support/outgoing/outgoing.js'

/** Shows the money that leaves by the naira provider, and takes the decisions that only a person may take. */
const usage = `npm run ops -- outgoing list [--state <state>] [--older-than <minutes>] [--limit <n>]
npm run ops -- outgoing show <id>
npm run ops -- outgoing act <action> <id>... [--apply --confirm <id> --reason <text>]
npm run ops -- outgoing compare [--days <n>]
npm run ops -- outgoing pause|resume [--apply --reason <text>]

<id>: the reference of a withdrawal (FIATPAY-...), the id of a refund (refund_... of a tip, suspense_... from suspense), or the
provider's id of a payment that waits in suspense.

Pausing:
  pause                   nothing new is sent once this returns; withdrawals are accepted and wait
  resume                  sends what waited

These need no --apply:
  list                    what has not ended, oldest first; exit code 4 while one waits for a person
  show <id>               one with its history
  compare                 compares the provider's transfers of the last days with our withdrawals; exit code 4 when they differ
  act ask <reference>...  asks the provider now; the reconciler then follows the answer

Acts on a withdrawal:
  replay <reference>...   sends it again under the same reference. If it may have been sent before: only when the provider does
                          not find it and documents that it refuses a used reference (FIATPAY_DEDUPLICATES)
  release <reference>     sends one that waits for an identity (verifying nobody), a payout limit or the review of a debt
  void <reference>        fails it and gives the creator the money back. Only if it was never sent, or is in manual_review and
                          the provider does not find it
  recredit <reference>    credits the creator again after the money of a completed one came back. Refused for 24 hours after
                          that was first seen, because the provider may still pay it; --now does not wait
  resolve <reference>     ends a mismatch, or one that the provider accepted and shows no more: completes it with what was really
                          paid (--paid <naira>) and frees the rest of the hold; with --paid 0 it fails. What is shown no more
                          fails 24 hours after the last request at the earliest, and is watched for 90 days
  close <reference>       closes the open reviews of one that was settled outside the service; moves no money
  reopen <reference>      opens again what close has closed
  adopt <reference>       after a restore: books one that the provider has and the database lost, or ends its hold. --creator
                          when the bank account does not say whose it is, --usdc when its debit is known

Acts on a refund that the payouts worker cannot end; refused while one is or may be under way:
  retry <refund>          sends it once more. Only when the provider shows no such refund, although it has had the time, and
                          never accepted it
  give-back <refund>      gives the creator the money back; what was in suspense waits there again. Only when it was not sent, or
                          the provider shows no such refund
  returned <refund>       records that the payer has the money back in another way. It sends nothing

Acts on a payment in suspense:
  refund <payment>        asks the provider to return it to the payer; nobody can assign it from then on. The payouts worker
                          follows it, and the books move when the provider shows it as returned. Running it again sends nothing
                          twice. What the provider refuses waits as before
  returned <payment>      as for a refund

All of them show a plan, and act with --apply, --confirm and --reason; all except release ask the provider first. Every act is
written to the audit log in the same transaction. If two operators run the same one at the same time, it is done once.`

export const command = await defineCommand(import.meta, {
  usage,
  amounts: 'base units',
  options: outgoingOptions,
  allowPositionals: true,
  run: outgoing,
})
