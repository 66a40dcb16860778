import { randomUUID } from 'node:crypto'
import { PublicKey } from '@solana/web3.js'
import { solMint } from '../../../../src/kernel/tokens.js'
import type { LocalChain } from '../../chain/local-chain.js'
import { tokenAccountBytes } from '../../chain/token-accounts.js'
import { transactionBytesMax } from '../../chain/vm/wire-transaction.js'
import { accountOf, balanceOf } from '../accounts.js'
import { alterPlan } from '../alter-plan.js'
import type { Destination, SwapPlan } from '../build-swap.js'
import { composeTransaction } from '../compose-transaction.js'
import type { Mode } from '../engine-fault.js'
import type { Trade } from '../market.js'
import { furtherStepsMax, marketAccounts, routePlan } from '../route-plan.js'
import { type Order, type OrderError, type OrderQuery, unitPrice } from './order.js'
import { feeShares } from './price-order.js'

/** Builds an order. It has a transaction when there is a taker who can pay. The mode can alter the transaction. */
export function buildOrder(chain: LocalChain, query: OrderQuery, trade: Trade, mode: Mode): Order {
  const route = routePlan(trade, mode === 'oversized' ? furtherStepsMax : 0)
  const priced = { requestId: randomUUID(), query, trade, route }
  if (query.taker === undefined) return priced
  const honest = planOf(chain, query, new PublicKey(query.taker), priced)
  const plan = alterPlan(chain, mode, honest)
  const unsigned = composeTransaction(chain, plan)
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
    extraAccounts: marketAccounts(route.map(({ swapInfo }) => swapInfo.ammKey)),
    extraInstructions: [],
  }
}

/** SOL is paid out native. A token goes to the receiver's associated account, which the order opens. */
function destinationOf(mint: string, receiver: PublicKey): Destination {
  return mint === solMint ? { wallet: receiver } : { account: accountOf(receiver, mint), openFor: receiver }
}

/** Why the taker cannot pay. Other failures are reported as missing gas, because they have no code. */
function errorOf(chain: LocalChain, plan: SwapPlan): OrderError | undefined {
  const { transaction } = composeTransaction(chain, plan)
  // A transaction larger than a packet cannot be simulated. The engine returns it anyway.
  if (transaction.length > transactionBytesMax) return undefined
  const { err } = chain.simulate(transaction, { verifySignatures: false, anyBlockhash: true })
  if (err === null) return undefined
  return balanceOf(chain, plan.user, plan.input.mint) < plan.inAmount ? 1 : 2
}

function rentOf(chain: LocalChain, { destination }: SwapPlan): bigint {
  const opens = 'openFor' in destination && !chain.svm.account(destination.account.toBase58())
  return opens ? chain.svm.rentExempt(tokenAccountBytes) : 0n
}
