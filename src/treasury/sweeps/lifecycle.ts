import { openStates, type StateMachine, sqlList } from '../../kernel/state-machine.js'

/**
 * A transaction that moves USDC from custody wallets to the treasury (docs/decisions/0064).
 * - `planned`: an operator's command has named creators and amounts; nothing is signed
 * - `signed`: the custodian has signed; the payer's signature is missing, so it cannot land
 * - `sent`: it is complete, and may be on its way
 * - `final`, `failed`: it landed for good, and its instructions succeeded or failed
 * - `dead`: it never landed and never will, or was refused
 */
const sweepStates = ['planned', 'signed', 'sent', 'final', 'failed', 'dead'] as const
export type SweepState = (typeof sweepStates)[number]

export const sweepMachine: StateMachine<SweepState> = {
  subject: 'a sweep',
  table: 'sweeps',
  column: 'state',
  states: sweepStates,
  initial: ['planned'],
  steps: [
    { from: 'planned', to: 'signed', by: 'the custodian signs it', entries: ['moveToTransit'] },
    { from: 'planned', to: 'dead', by: 'the custodian refuses it', entries: [] },
    { from: 'signed', to: 'sent', by: 'the command adds the signature of the payer', entries: [] },
    {
      from: 'signed',
      to: 'dead',
      by: 'the payer did not sign before the last valid height',
      entries: ['returnToCustody'],
    },
    { from: 'sent', to: 'final', by: 'the chain shows it final', entries: ['moveToTreasury'] },
    {
      from: 'sent',
      to: 'failed',
      by: 'every endpoint shows that it landed and failed',
      entries: ['returnToCustody'],
    },
    {
      from: 'sent',
      to: 'dead',
      by: 'it can no longer land and no endpoint knows it; with one endpoint, or a short wallet, a person decides',
      entries: ['returnToCustody'],
    },
  ],
}

export const openSweeps = sqlList(openStates(sweepMachine))
