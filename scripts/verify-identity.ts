import type { Composed } from '../src/compose.js'
import { displayText } from '../src/kernel/money.js'
import {
  type HeldWithdrawal,
  heldOf,
  refuseIdentity,
  verifyIdentity,
} from '../src/payouts/verify-identity.js'
import { audit } from './ops/audit.js'
import {
  acting,
  actorOf,
  consentTo,
  exitHelp,
  type Outcome,
  reasonOption,
  runCommand,
  type Values,
} from './ops/command.js'
import { findPerson, type Person } from './ops/person.js'
import { withServices } from './ops/with-services.js'

/** Marks a creator's identity as verified, which sends what waits for it; or refuses it, which gives the money back. */
const help = `npm run ops -- verify-identity --user ada@example.com
npm run ops -- verify-identity --user <id|e-mail> [--refuse] [--apply --confirm <user id> --reason <text>]

Shows which withdrawals wait for a creator's identity. With --apply the creator is verified: they are sent, and later
ones are not held. With --refuse as well they fail, and the creator has the money back.

  --user <id|e-mail>     the account
  --refuse               who it is could not be shown
  --apply                do it
  --confirm <user id>    what is meant, once more: money leaves
  --reason <text>        what was seen, for those who ask later; required with --apply
  --as <name>            in whose name, for the audit log; default: the user of the operating system
  --json                 answer as one line of JSON; amounts are kobo as decimal text
  --help

${exitHelp}`

const options = {
  ...acting,
  user: { type: 'string' },
  refuse: { type: 'boolean' },
  confirm: { type: 'string' },
  ...reasonOption,
} as const

type Given = Values<typeof options>

/** What the creator whose identity was refused reads. */
const refusal = 'Your identity could not be verified'

function decide(
  { transact }: Composed,
  person: Person,
  given: Given,
  reason: string,
): Promise<HeldWithdrawal[]> {
  return transact(async (uow) => {
    const done = given.refuse
      ? await refuseIdentity(uow, person.id, refusal)
      : await verifyIdentity(uow, person.id)
    const references = done.map(({ reference }) => reference)
    await audit(uow.trx, {
      actor: actorOf(given),
      action: given.refuse ? 'verify-identity refuse' : 'verify-identity',
      subject: `user:${person.id}`,
      details: { reason, references },
    })
    return done
  })
}

function present(person: Person, held: readonly HeldWithdrawal[], { apply, refuse }: Given): Outcome {
  const verb = refuse ? 'given back' : 'sent'
  const lines = held.map(
    ({ reference, netKobo }) =>
      `${reference}  NGN ${displayText(netKobo, 2)}  ${apply ? verb : `would be ${verb}`}`,
  )
  const known = person.verifiedAt === null ? 'not verified' : `verified ${person.verifiedAt.toISOString()}`
  const ending = apply ? (refuse ? 'refused' : 'verified now') : 'nothing is changed; --apply does it'
  return {
    text: [`${person.email} (${person.id}): ${known}`, ...lines, ending].join('\n'),
    json: {
      applied: apply === true,
      refused: refuse === true,
      userId: person.id,
      withdrawals: held.map(({ reference, netKobo }) => ({ reference, netKobo: String(netKobo) })),
    },
  }
}

function run(given: Given): Promise<Outcome> {
  return withServices(async (services) => {
    const person = await findPerson(services.db, given.user)
    if (given.apply !== true) return present(person, await heldOf(services.db, person.id), given)
    const reason = consentTo('this', person.id, given)
    return present(person, await decide(services, person, given, reason), given)
  })
}

await runCommand({ help, options, run })
