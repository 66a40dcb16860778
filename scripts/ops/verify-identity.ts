import type { Composed } from '../../src/compose.js'
import { displayText } from '../../src/kernel/money.js'
import {
  type HeldWithdrawal,
  listHeld,
  refuseIdentity,
  verifyIdentity,
} from '../../src/withdrawals/review/verify-identity.js'
import { audit } from './support/audit.js'
import {
  acting,
  actorOf,
  CannotDo,
  consentTo,
  exitHelp,
  type Outcome,
  reasonOption,
  runCommand,
  type Values,
} from './support/command.js'
import { findPerson, type Person } from './support/person.js'
import { withServices } from './support/with-services.js'

/** Marks a creator's identity as verified, which sends what waits for it; or refuses it, which gives the money back. */
const help = `npm run ops -- verify-identity --user ada@example.com
npm run ops -- verify-identity --user <id|e-mail> [--refuse] [--apply --confirm <user id> --reason <text>]

Shows which withdrawals wait for a creator's identity. With --apply the creator is verified: they are sent, and later
ones are not held. With --refuse as well they fail, and the creator has the money back; nothing of a creator who is
verified waits, and nobody's verification is taken back.

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

/** What becomes of the withdrawals, and what is said of the creator: before it is done, and after. */
const deeds = {
  verify: {
    each: 'sent',
    planned: 'would be verified: later ones are not held',
    done: 'verified now: later ones are not held',
  },
  refuse: {
    each: 'given back',
    planned: 'would be refused: later ones are held as before',
    done: 'refused: later ones are held as before',
  },
} as const

function present(person: Person, held: readonly HeldWithdrawal[], given: Given): Outcome {
  const applied = given.apply === true
  const { each, planned, done } = deeds[given.refuse ? 'refuse' : 'verify']
  const lines = held.map(
    ({ reference, netKobo }) =>
      `${reference}  NGN ${displayText(netKobo, 2)}  ${applied ? each : `would be ${each}`}`,
  )
  const ending = applied ? done : `${planned}; --apply does it`
  return {
    text: [headline(person), ...lines, ending].join('\n'),
    json: {
      ...jsonOf(person, given, applied),
      withdrawals: held.map(({ reference, netKobo }) => ({ reference, netKobo: String(netKobo) })),
    },
  }
}

/** Nothing is held. Throws CannotDo when somebody is to be refused who is verified. */
function nothingToDo(person: Person, given: Given): Outcome {
  if (given.refuse && person.verifiedAt !== null)
    throw new CannotDo(
      `${headline(person)}; nothing of theirs waits that could be given back, and a verification is not taken back`,
    )
  const text = `${headline(person)}\nnothing waits for the identity: nothing to do`
  return { text, json: { ...jsonOf(person, given, false), withdrawals: [] } }
}

function headline({ email, id, verifiedAt }: Person): string {
  return `${email} (${id}): ${verifiedAt === null ? 'not verified' : `verified ${verifiedAt.toISOString()}`}`
}

function jsonOf({ id }: Person, { refuse }: Given, applied: boolean) {
  return { applied, refused: refuse === true, userId: id }
}

function run(given: Given): Promise<Outcome> {
  return withServices(async (services) => {
    const person = await findPerson(services.db, given.user)
    const held = await listHeld(services.db, person.id)
    const settled = given.refuse === true || person.verifiedAt !== null
    if (held.length === 0 && settled) return nothingToDo(person, given)
    if (given.apply !== true) return present(person, held, given)
    const reason = consentTo('this', person.id, given)
    return present(person, await decide(services, person, given, reason), given)
  })
}

await runCommand({ help, options, run })
