import { defineCommand, parseVerb } from '../support/command.js'
import { act, outgoingOptions, verbNames, verbs } from '../support/outgoing/outgoing.js'
import { withdrawals } from '../support/outgoing/withdrawals.js'

/** `outgoing` for withdrawals alone, under its older name. */
const usage = `npm run ops -- payouts list|compare|pause|resume
npm run ops -- payouts show <reference>
npm run ops -- payouts <action> <reference>... [--apply --confirm <reference> --reason <text>]

The same as npm run ops -- outgoing, whose --help explains it, for withdrawals alone: payouts void <reference> is
outgoing act void <reference>. To list always ends with exit code 0.`

const names = [...verbNames, ...withdrawals.actions]

export const command = await defineCommand(import.meta, {
  usage,
  amounts: 'base units',
  options: outgoingOptions,
  allowPositionals: true,
  run(given, order, [name, ...references]) {
    const verb = parseVerb(name, names)
    const own = verbNames.find((one) => one === verb)
    return own === undefined
      ? act(withdrawals, verb, references, given, order)
      : verbs[own](given, order, references, withdrawals)
  },
})
