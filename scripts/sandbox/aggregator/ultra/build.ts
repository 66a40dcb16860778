import { randomUUID } from 'node:crypto'
import { PublicKey } from '@solana/web3.js'
import { solMint } from '../../../../src/kernel/tokens.js'
import type { LocalChain } from '../../chain/local-chain.js'
import { tokenAccountBytes } from '../../chain/token-accounts.js'
import { transactionBytesMax } from '../../chain/wire.js'
import { accountOf, balanceOf } from '../accounts.js'
import { buildSwap, type Destination, inOrder, type SwapPlan } from '../build-swap.js'
import { composeTransaction, type Unsigned } from '../compose-transaction.js'
import type { Mode } from '../engine-fault.js'
import type { Trade } from '../market.js'
import { furtherStepsMax, marketAccounts, routePlan } from '../route-plan.js'
import { tampered } from '../tampering.js'
import { type Order, type OrderError, type OrderQuery, unitPrice } from './order.js'
import { feeShares } from './trade.js'

/** An order with its transaction, if a taker is named who can pay; in a lying mode, with one that does not keep it. */
export function buildOrder(chain: LocalChain, query: OrderQuery, trade: Trade, mode: Mode): Order {
  const route = routePlan(trade, mode === 'oversized' ? furtherStepsMax : 0)
  const priced = { requestId: randomUUID(), query, trade, route }
  if (query.taker === undefined) return priced
  const honest = planOf(chain, query, new PublicKey(query.taker), priced)
  const plan = tampered(chain, mode, honest)
  const unsigned = compose(chain, plan)
  const error = mode === 'error-code' ? 1 : errorOf(chain, honest)
  const made = { ...priced, rent: rentOf(chain, honest), ...(plan.cosigner ? { maker: plan.cosigner } : {}) }
  return error === undefined ? { ...made, unsigned } : { ...made, error }
}

function planOf(
  chain: LocalChain,
  query: OrderQuery,
  user: PublicKey,
  { trade, route }: Pick<Order, 'trade' | 'route'>,
): SwapPlan {
  const { input, output, inAmount, outAmount } = trade
  const receiver = query.receiver === undefined ? user : new PublicKey(query.receiver)
  return {
    user,
    input,
    output,
    inAmount,
    outAmount,
    destination: destinationOf(output.mint, receiver),
    fees: feeShares(chain, query, trade),
    wrapSol: true,
    unitPrice,
    mentioned: marketAccounts(route.map(({ swapInfo }) => swapInfo.ammKey)),
    foreign: [],
  }
}

/** SOL arrives native; a token in the receiver's associated account, which the order opens. */
function destinationOf(mint: string, receiver: PublicKey): Destination {
  return mint === solMint ? { wallet: receiver } : { account: accountOf(receiver, mint), openFor: receiver }
}

/** Why the taker cannot pay; what would fail for another reason is put down to gas, as there is no code for it. */
function errorOf(chain: LocalChain, plan: SwapPlan): OrderError | undefined {
  const { transaction } = compose(chain, plan)
  // What does not fit a packet cannot be tried; the engine hands it out all the same.
  if (transaction.length > transactionBytesMax) return undefined
  const { err } = chain.simulate(transaction, { verifySignatures: false, anyBlockhash: true })
  if (err === null) return undefined
  return balanceOf(chain, plan.user, plan.input.mint) < plan.inAmount ? 1 : 2
}

function compose(chain: LocalChain, plan: SwapPlan): Unsigned {
  return composeTransaction(chain, plan.cosigner ?? plan.user, inOrder(buildSwap(plan)))
}

function rentOf(chain: LocalChain, { destination }: SwapPlan): bigint {
  const opens = 'openFor' in destination && !chain.svm.account(destination.account.toBase58())
  return opens ? chain.svm.rentExempt(tokenAccountBytes) : 0n
}
