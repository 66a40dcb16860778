import { z } from 'zod'
import type { LocalChain } from '../local-chain.js'
import { RpcError } from './error.js'
import { anyConfig, asked, key, method, signature } from './params.js'
import type { RpcServer } from './server.js'

/** Sends a notification to the subscriber. */
type Push = (method: string, result: unknown) => void

/** Looks at the chain and pushes when there is news. true: there will be no more. */
export type Subscription = (push: Push) => boolean

type Opener = (params: readonly unknown[]) => Subscription

/** Opens the subscriptions `Connection` of web3.js uses; RpcError -32601 for others, -32602 for bad parameters. */
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
  const read = method(z.tuple([signature, anyConfig.optional()]), (text, options = {}) => () => {
    return ledger.visible(text, asked(options))
  })
  const look = read(params)
  return (push) => {
    const record = look()
    if (!record) return false
    push('signatureNotification', { context: { slot: record.slot }, value: { err: record.meta.err } })
    return true
  }
}

function accountChanged({ svm }: LocalChain, rpc: RpcServer, params: readonly unknown[]): Subscription {
  const address = method(z.tuple([key]).rest(z.unknown()), (text) => text)(params)
  const look = () => {
    const account = svm.account(address)
    return account && `${account.lamports} ${account.owner} ${account.data.toString('base64')}`
  }
  let last = look()
  return (push) => {
    const now = look()
    if (now !== last)
      push('accountNotification', rpc.call({ id: 0, method: 'getAccountInfo', params }).result)
    last = now
    return false
  }
}
