import {
  disputeMachine,
  refundSendMachine,
  refundStatusMachine,
  suspenseMachine,
} from '../../src/fiat/lifecycle.js'
import type { StateMachine } from '../../src/kernel/state-machine.js'
import { sessionMachine } from '../../src/sdk/lifecycle.js'
import { tipMachine } from '../../src/tips/lifecycle.js'
import { sweepMachine } from '../../src/treasury/sweeps/lifecycle.js'
import { takeOutMachine } from '../../src/treasury/take-outs/lifecycle.js'
import { reviewMachine, sendMachine, statusMachine } from '../../src/withdrawals/lifecycle.js'

/** A machine of any states. */
export type AnyMachine = StateMachine<string>

function any<S extends string>(machine: StateMachine<S>): AnyMachine {
  return machine as unknown as AnyMachine
}

/** Every machine whose state is stored, and where it is declared. */
export const machines: readonly { readonly file: string; readonly machine: AnyMachine }[] = [
  { file: 'src/tips/lifecycle.ts', machine: any(tipMachine) },
  { file: 'src/withdrawals/lifecycle.ts', machine: any(statusMachine) },
  { file: 'src/withdrawals/lifecycle.ts', machine: any(sendMachine) },
  { file: 'src/withdrawals/lifecycle.ts', machine: any(reviewMachine) },
  { file: 'src/fiat/lifecycle.ts', machine: any(suspenseMachine) },
  { file: 'src/treasury/sweeps/lifecycle.ts', machine: any(sweepMachine) },
  { file: 'src/fiat/lifecycle.ts', machine: any(refundStatusMachine) },
  { file: 'src/fiat/lifecycle.ts', machine: any(refundSendMachine) },
  { file: 'src/treasury/take-outs/lifecycle.ts', machine: any(takeOutMachine) },
  { file: 'src/fiat/lifecycle.ts', machine: any(disputeMachine) },
  { file: 'src/sdk/lifecycle.ts', machine: any(sessionMachine) },
]
