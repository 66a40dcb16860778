import type { StateMachine } from '../../kernel/state-machine.js'

/**
 * A transaction that moves what is in a creator's custody wallet to a wallet of their own (docs/decisions/0064).
 * - `prepared`: built; it holds and blocks nothing
 * - `signed`: complete, and with the creator's browser, which submits it
 * - `final`, `failed`: it landed for good, and its instructions succeeded or failed
 * - `expired`: it never landed and never will
 */
export const takeOutStates = ['prepared', 'signed', 'final', 'expired', 'failed'] as const
export type TakeOutState = (typeof takeOutStates)[number]

export const takeOutMachine: StateMachine<TakeOutState> = {
  subject: 'a take-out',
  table: 'wallet_transfers',
  column: 'state',
  states: takeOutStates,
  initial: ['prepared'],
  steps: [
    {
      from: 'prepared',
      to: 'signed',
      by: 'the custodian signs what the payout wallet has signed',
      entries: ['holdTakeOut'],
    },
    { from: 'prepared', to: 'expired', by: 'its last valid height has passed', entries: [] },
    { from: 'signed', to: 'final', by: 'the chain shows it final', entries: ['postTakeOut'] },
    {
      from: 'signed',
      to: 'failed',
      by: 'every endpoint shows that it landed and failed',
      entries: ['returnTakeOut'],
    },
    {
      from: 'signed',
      to: 'expired',
      by: 'it can no longer land and no endpoint knows it; with one endpoint, or a short wallet, a person decides',
      entries: ['returnTakeOut'],
    },
  ],
}
