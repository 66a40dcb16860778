import type { Knex } from 'knex'
import { unfreezeAccount } from '../../src/accounts/freezing/freeze-account.js'
import { User } from '../../src/accounts/models.js'
import {
  actorOf,
  applyOptions,
  defineCommand,
  describeChange,
  exitHelp,
  type Outcome,
  reasonOption,
  requireReason,
  runAsProgram,
} from './support/command.js'
import { findUser } from './support/find-user.js'
import { recordAudit } from './support/record-audit.js'
import { withServices } from './support/with-services.js'

/** Unfreezes an account once its owner has been spoken to. Lists the frozen accounts without --user. */
const help = `npm run ops -- unfreeze
npm run ops -- unfreeze --user <id|e-mail> --reason <text> [--apply]

Without --user it lists the frozen accounts. With --user and --apply the account is unfrozen. Unfreezing ends all sessions,
voids "This was not me" links, and removes recovery codes and the factors that were younger than 72 hours when it was frozen.
The owner gets a mail with the advice to set a new password. Withdrawals that waited go on: give back first, with
"payouts void <reference>", what the owner did not ask for. First make sure that you talk with the owner.

  --user <id|e-mail>     the account
  --apply                do it
  --reason <text>        how you know the owner, for the audit log; required with --apply
  --as <name>            your name for the audit log; default: the user of the operating system
  --json                 print one line of JSON
  --help                 print this text

${exitHelp}`

const options = { ...applyOptions, user: { type: 'string' }, ...reasonOption } as const
const mostListed = 1000

export const command = defineCommand({
  help,
  options,
  run: (values) =>
    withServices(async ({ db, transact, config }) => {
      if (values.user === undefined) return listFrozen(db)
      const user = await findUser(db, values.user)
      if (user.frozenAt === null || values.apply !== true) return present(user, false)
      const reason = requireReason(values)
      const applied = await transact(async (uow) => {
        const done = await unfreezeAccount(uow, { userId: user.id, publicUrl: config.http.publicUrl })
        const entry = { actor: actorOf(values), action: 'unfreeze', subject: `user:${user.id}` }
        const details = { reason, frozenAt: user.frozenAt, frozenReason: user.frozenReason }
        if (done) await recordAudit(uow.trx, { ...entry, details })
        return done
      })
      return applied ? present(user, true) : present(await findUser(db, user.id), false)
    }),
})

async function listFrozen(db: Knex): Promise<Outcome> {
  const frozen = await User.query(db).whereNotNull('frozen_at').orderBy('frozen_at').limit(mostListed)
  return {
    text: frozen.length === 0 ? 'no account is frozen' : frozen.map(frozenLine).join('\n'),
    json: {
      accounts: frozen.map(({ id, email, frozenAt, frozenReason }) => ({
        id,
        email,
        frozenAt,
        frozenReason,
      })),
    },
  }
}

function frozenLine({ id, email, frozenAt, frozenReason }: User): string {
  return `${email} (${id}) is frozen since ${frozenAt?.toISOString()}: ${frozenReason}`
}

function present(user: User, applied: boolean): Outcome {
  const json = { applied, userId: user.id, email: user.email }
  if (user.frozenAt === null) return { text: `${user.email} (${user.id}) is not frozen: nothing to do`, json }
  return { text: describeChange(frozenLine(user), 'unfrozen', applied), json }
}

await runAsProgram(import.meta, command)
