import { emailAddress } from '../../../src/accounts/schemas.js'
import { countPayers, erasePayer } from '../../../src/fiat/intents/payer.js'
import { defineCommand, defineOptions, reasonedOptions } from '../support/command.js'
import { UsageError } from '../support/order.js'

import { withServices } from '../support/services.js'

const options = defineOptions(reasonedOptions, {
  '--email <address>': "the payer's address",
  '--reason <text>': 'who asked and how, for the audit log; required with --apply',
})

/** Erases the e-mail address of a payer of naira tips who asks for it. */
const usage = `npm run ops -- accounts forget-payer --email <address> [--apply --reason <text>]

Erases the stored address of somebody who paid naira tips. The tips stay, with the name and the message that were typed in,
and a tip that is still open sends no receipt. The audit log says that it was done, not for whom.`

export const command = await defineCommand(import.meta, {
  usage,
  options,
  run: (values, order) => {
    const email = emailAddress.safeParse(values.email).data
    if (email === undefined) throw new UsageError('--email needs an e-mail address')
    return withServices('ops forget-payer', async (services) => {
      const found = await countPayers(services, email)
      if (found === 0)
        return { text: 'no payer has this address: nothing to do', json: { applied: false, found } }
      order.reason()
      if (order.apply)
        await services.transact(async ({ trx }) => {
          const rows = await erasePayer(trx, services, email)
          await order.audit(trx, 'forget-payer', 'payer', { rows })
        })
      return {
        text: order.tell('the address of this payer', 'erased'),
        json: { applied: order.apply, found },
      }
    })
  },
})
