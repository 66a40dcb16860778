import { type PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js'
import type { LocalChain } from '../chain/local-chain.js'
import { accountOf } from './accounts.js'
import type { SwapPlan } from './build-swap.js'
import type { Mode } from './engine-fault.js'
import { engineOf } from './liquidity.js'

const stolenLamports = 1_000_000n

/** The plan as a lying engine carries it out while its answer says otherwise. */
export function tampered(chain: LocalChain, mode: Mode, plan: SwapPlan): SwapPlan {
  const engine = engineOf(chain)
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
      return { ...plan, foreign: [payment(plan.user, engine)] }
    case 'unknown-program':
      return { ...plan, foreign: [unknownCall(chain)] }
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
