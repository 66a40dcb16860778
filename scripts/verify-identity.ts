import type { Knex } from 'knex'
import { emailAddress } from '../src/accounts/schemas.js'
import { type Composed, compose } from '../src/compose.js'
import { userIdFrom } from '../src/kernel/ids.js'
import { displayText } from '../src/kernel/money.js'
import {
  type HeldWithdrawal,
  heldOf,
  refuseIdentity,
  verifyIdentity,
} from '../src/payouts/verify-identity.js'
import { loadConfig } from '../src/platform/config.js'
import { audit } from './ops/audit.js'
import {
  acting,
  actorOf,
  CannotDo,
  exitHelp,
  type Outcome,
  reasonOf,
  reasonOption,
  runCommand,
  Unconfirmed,
  UsageError,
} from './ops/command.js'

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

interface Given {
  readonly user?: string | undefined
  readonly refuse?: boolean | undefined
  readonly apply?: boolean | undefined
  readonly confirm?: string | undefined
  readonly reason?: string | undefined
  readonly as?: string | undefined
}

interface Person {
  readonly id: string
  readonly email: string
  readonly verifiedAt: Date | null
}

/** What the creator whose identity was refused reads. */
const refusal = 'Your identity could not be verified'

async function findPerson(db: Knex, text: string | undefined): Promise<Person> {
  const id = text === undefined ? undefined : userIdFrom(text)
  const email = emailAddress.safeParse(text).data
  if (id === undefined && email === undefined) throw new UsageError('--user: a user id or an e-mail address')
  const person = await db('users')
    .where(id === undefined ? { email } : { id })
    .first('id', 'email', { verifiedAt: 'identity_verified_at' })
  if (person === undefined) throw new CannotDo(`nobody has the account ${text}`)
  return person
}

/** Returns why, once it is clear who is meant. */
function requireConsent({ id }: Person, { confirm, reason }: Given): string {
  if (confirm !== id) throw new Unconfirmed(`this needs --confirm=${id}`)
  return reasonOf({ reason })
}

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

await runCommand({
  help,
  options,
  async run(given) {
    const services = compose(loadConfig({ ...process.env, LOG_LEVEL: 'silent' }), 'ops')
    try {
      const person = await findPerson(services.db, given.user)
      if (given.apply !== true) return present(person, await heldOf(services.db, person.id), given)
      const reason = requireConsent(person, given)
      return present(person, await decide(services, person, given, reason), given)
    } finally {
      await services.close()
    }
  },
})
