import { defineCommand, defineOptions, finalOptions, givenOption } from '../support/command.js'
import { presentList } from '../support/outgoing/kind.js'
import { act } from '../support/outgoing/outgoing.js'
import { refunds } from '../support/outgoing/refunds.js'
import { withDatabase } from '../support/services.js'

/** `outgoing` for the naira that go back to payers, under its older name. */
const usage = `npm run ops -- refunds
npm run ops -- refunds [--retry <refund> | --give-back <refund> | --returned <refund>] [--apply --confirm <refund> --reason <text>]

Lists the refunds that have not ended, oldest first, at most 1,000. Exit code 4 while one of them waits for a person. The others
are outgoing act retry, give-back and returned: npm run ops -- outgoing --help explains them.`

const open = { state: 'open', olderThanSeconds: 0, limit: 1000 }

export const command = await defineCommand(import.meta, {
  usage,
  amounts: 'kobo and micro-USDC',
  options: defineOptions(finalOptions, {
    '--retry <refund>': 'refund_ or suspense_ and 32 hex digits, as listed',
    '--give-back <refund>': 'the same',
    '--returned <refund>': 'the same',
    '--confirm <refund>': 'the refund once more; required with --apply, because money moves',
  }),
  async run(given, order) {
    const action = givenOption(given, refunds.actions)
    if (action !== undefined) return act(refunds, action, [given[action] ?? ''], {}, order)
    return withDatabase(async (db) =>
      presentList('refunds', await refunds.list({ db }, open), 'no refund is under way'),
    )
  },
})
