import { freezeAccount } from '../../../src/accounts/freeze-account.js'
import type { User } from '../../../src/accounts/models.js'
import { defineCommand, defineOptions, type Outcome, reasonedOptions } from '../support/command.js'
import { describeChange } from '../support/order.js'
import { findUser, withServices } from '../support/services.js'

const options = defineOptions(reasonedOptions, { '--user <id|e-mail>': 'the account' })

/** Freezes an account: signs everybody out, and refuses withdrawals and changes until it is unfrozen. */
const usage = `npm run ops -- accounts freeze --user <id|e-mail> --reason <text> [--apply]

Freezes an account that somebody else may be in. Everybody is signed out. Signing in and reading still work; withdrawals and
changes are refused, and nothing is sent to a bank. Tips still arrive. The owner is told by mail. Without --apply this
changes nothing. npm run ops -- accounts unfreeze takes it back.`

function present({ id, email, frozenAt, frozenReason }: User, applied: boolean): Outcome {
  const json = { applied, userId: id, email, frozenAt: frozenAt?.toISOString() ?? null }
  if (frozenAt !== null)
    return {
      text: `${email} (${id}) is frozen since ${frozenAt.toISOString()}: ${frozenReason}: nothing to do`,
      json,
    }
  return { text: describeChange(`${email} (${id})`, 'frozen', applied), json }
}

export const command = await defineCommand(import.meta, {
  usage,
  options,
  run: (values, order) =>
    withServices('ops freeze-account', async ({ db, transact, config }) => {
      const user = await findUser(db, values.user)
      if (user.frozenAt !== null || !order.apply) return present(user, false)
      const reason = order.reason()
      const applied = await transact(async (uow) => {
        const done = await freezeAccount(uow, { userId: user.id, publicUrl: config.http.publicUrl, reason })
        if (done) await order.audit(uow.trx, 'freeze-account', `user:${user.id}`)
        return done
      })
      return applied ? present(user, true) : present(await findUser(db, user.id), false)
    }),
})
