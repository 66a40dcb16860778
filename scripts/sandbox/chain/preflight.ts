import { RpcError } from './rpc/error.js'
import type { Simulation } from './vm/execution.js'
import { errorMessage } from './vm/svm-errors.js'

/** The result of a simulation that failed before the virtual machine ran. */
export function unexecuted(err: string): Simulation {
  const nothing = { logs: [], unitsConsumed: 0, innerInstructions: [], returnData: null }
  return { err, ...nothing, fee: undefined, accounts: new Map() }
}

/**
 * Refuses a transaction whose simulation failed, as a node's preflight does.
 * @throws RpcError -32003 for a bad signature, -32002 with the logs for anything else
 */
export function refuseFailedSimulation({ err, logs, unitsConsumed }: Simulation): void {
  if (err === null) return
  if (err === 'SignatureFailure') throw new RpcError(-32003, 'Transaction signature verification failure')
  throw new RpcError(-32002, `Transaction simulation failed: ${errorMessage(err)}`, {
    accounts: null,
    err,
    innerInstructions: null,
    logs,
    replacementBlockhash: null,
    returnData: null,
    unitsConsumed,
  })
}
