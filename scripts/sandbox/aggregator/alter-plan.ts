import { type PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import type { LocalChain } from '../chain/local-chain.js'
import { accountOf } from './accounts.js'
import type { SwapPlan } from './build-swap.js'
import type { Mode } from './engine-fault.js'
import { engineWallet } from './liquidity.js'

const stolenLamports = 1_000_000n

/** Changes a plan as the mode says. In the dishonest modes the transaction then differs from the engine's answer. */
export function alterPlan(chain: LocalChain, mode: Mode, plan: SwapPlan): SwapPlan {
  const engine = engineWallet(chain)
  switch (mode) {
    case 'second-signer':
      return { ...plan, cosigner: chain.keypair('market maker').publicKey }
    case 'pays-less':
      return { ...plan, outAmount: plan.outAmount - plan.outAmount / 10n - 1n }
    case 'pays-another':
      return {
        ...plan,
        destination:
          'wallet' in plan.destination
            ? { wallet: engine }
            : { account: accountOf(engine, plan.output.mint) },
      }
    case 'batches':
      return { ...plan, extraInstructions: [payment(plan.user, engine)] }
    case 'unknown-program':
      return { ...plan, extraInstructions: [unknownCall(chain)] }
    default:
      return plan
  }
}

function payment(from: PublicKey, to: PublicKey): TransactionInstruction {
  return SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: stolenLamports })
}

function unknownCall(chain: LocalChain): TransactionInstruction {
  const programId = chain.keypair('unknown program').publicKey
  return new TransactionInstruction({ programId, keys: [], data: Buffer.from([1]) })
}
