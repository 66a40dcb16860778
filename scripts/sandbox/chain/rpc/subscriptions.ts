import { z } from 'zod'
import type { LocalChain } from '../local-chain.js'
import { RpcError } from './error.js'
import { commitmentConfig, key, method, requestedCommitment, signature } from './params.js'
import type { RpcServer } from './server.js'

/** Sends a notification to the subscriber. */
type Push = (method: string, result: unknown) => void

/** Checks the chain and pushes a notification when something has changed. Returns true when the subscription has ended. */
export type Subscription = (push: Push) => boolean

type Opener = (params: readonly unknown[]) => Subscription

/**
 * Returns a function that opens the subscriptions that web3.js's `Connection` uses.
 * @throws RpcError -32601 for other subscriptions, -32602 for bad parameters
 */
export function subscriptionOpener(chain: LocalChain, rpc: RpcServer) {
  const openers = new Map<string, Opener>([
    ['slotSubscribe', () => slots(chain)],
    ['signatureSubscribe', (params) => signatureSeen(chain, params)],
    ['accountSubscribe', (params) => accountChanged(chain, rpc, params)],
  ])
  return (name: string, params: readonly unknown[]): Subscription => {
    const open = openers.get(name)
    if (!open) throw new RpcError(-32601, 'Method not found')
    return open(params)
  }
}

function slots({ clock }: LocalChain): Subscription {
  let last = clock.slot
  return (push) => {
    const { slot } = clock
    if (slot !== last) push('slotNotification', { parent: slot - 1, root: clock.slotAt('finalized'), slot })
    last = slot
    return false
  }
}

function signatureSeen({ ledger }: LocalChain, params: readonly unknown[]): Subscription {
  const createReader = method(
    z.tuple([signature, commitmentConfig.optional()]),
    (text, options = {}) =>
      () => {
        return ledger.visible(text, requestedCommitment(options))
      },
  )
  const readRecord = createReader(params)
  return (push) => {
    const record = readRecord()
    if (!record) return false
    push('signatureNotification', { context: { slot: record.slot }, value: { err: record.meta.err } })
    return true
  }
}

function accountChanged({ svm }: LocalChain, rpc: RpcServer, params: readonly unknown[]): Subscription {
  const address = method(z.tuple([key]).rest(z.unknown()), (text) => text)(params)
  const readState = () => {
    const account = svm.account(address)
    return account && `${account.lamports} ${account.owner} ${account.data.toString('base64')}`
  }
  let last = readState()
  return (push) => {
    const now = readState()
    if (now !== last)
      push('accountNotification', rpc.call({ id: 0, method: 'getAccountInfo', params }).result)
    last = now
    return false
  }
}
