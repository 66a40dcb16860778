import { removeAllFactors } from '../../../src/accounts/factors/change-factors.js'
import type { User } from '../../../src/accounts/models.js'
import { countFactors } from '../../../src/accounts/protection.js'
import { defineCommand, defineOptions, type Outcome, reasonedOptions } from '../support/command.js'
import { describeChange } from '../support/order.js'
import { findUser, withServices } from '../support/services.js'

const options = defineOptions(reasonedOptions, {
  '--user <id|e-mail>': 'the account',
  '--reason <text>': 'how you know the owner, for the audit log; required with --apply',
})

/** Removes every second factor of an account whose owner has lost them, or whose thief has added one. */
const usage = `npm run ops -- accounts remove-factors --user <id|e-mail> [--apply --reason <text>]

Removes the authenticator app, the passkeys and the recovery codes of an account: its owner then signs in with the password or
a mailed code alone, and gets a mail. First make sure that you talk with the owner, as surely as when the factors were added:
have a mail from the account's address answered, and compare what only the owner knows. Without --apply this changes nothing.`

function present({ id, email }: User, factors: number, applied: boolean): Outcome {
  const json = { applied, userId: id, email, factors }
  const name = `${email} (${id})`
  if (factors === 0) return { text: `${name} has no second factor: nothing to do`, json }
  return { text: describeChange(`second factors of ${name}: ${factors}`, 'removed', applied), json }
}

export const command = await defineCommand(import.meta, {
  usage,
  options,
  run: (values, order) =>
    withServices('ops remove-factors', async ({ db, transact, config }) => {
      const user = await findUser(db, values.user)
      const { factors } = await countFactors(db, user.id)
      if (factors === 0 || !order.apply) return present(user, factors, false)
      order.reason()
      const removed = await transact(async (uow) => {
        const count = await removeAllFactors(uow, config, user)
        if (count > 0) await order.audit(uow.trx, 'remove-factors', `user:${user.id}`, { factors: count })
        return count
      })
      return present(user, removed, removed > 0)
    }),
})
