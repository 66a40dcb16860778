import { type AccountMeta, PublicKey, TransactionInstruction } from '@solana/web3.js'
import { poolSeed, signerFlag, swapAccountsMax, writableFlag } from './swap-program.js'

/** The address of the swap engines' program on mainnet, so that checks of the address also work here. */
export const swapProgramId = new PublicKey('JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4')
const [poolAddress, poolBump] = PublicKey.findProgramAddressSync([Buffer.from(poolSeed)], swapProgramId)
/** The owner of all liquidity. It also holds the lamports that are paid out as native SOL. */
export const pool = poolAddress

/**
 * Builds one instruction of the swap program that makes these calls in turn. The pool signs where it must.
 * `extraAccounts`: accounts that are named but not used. Throws RangeError when there are too many accounts.
 */
export function swapInstruction(
  calls: readonly TransactionInstruction[],
  extraAccounts: readonly AccountMeta[],
): TransactionInstruction {
  const used = calls.flatMap(({ programId, keys }) => [...keys, readOnly(programId)])
  const keys = merged([...used, ...extraAccounts])
  if (keys.length > swapAccountsMax) throw new RangeError(`more than ${swapAccountsMax} accounts`)
  const positions = new Map(keys.map(({ pubkey }, position) => [pubkey.toBase58(), position]))
  const encoded = calls.map((call) => encodeCall(call, positions))
  const data = Buffer.concat([Buffer.from([poolBump, calls.length]), ...encoded])
  return new TransactionInstruction({ programId: swapProgramId, keys, data })
}

function encodeCall(
  { programId, keys, data }: TransactionInstruction,
  positions: ReadonlyMap<string, number>,
): Buffer {
  const position = (key: PublicKey) => positions.get(key.toBase58()) ?? 0
  const accounts = keys.map(
    ({ pubkey, isSigner, isWritable }) =>
      position(pubkey) | (isSigner ? signerFlag : 0) | (isWritable ? writableFlag : 0),
  )
  return Buffer.concat([Buffer.from([position(programId), keys.length, data.length, ...accounts]), data])
}

/** Lists every account once, with the strongest rights of its mentions. The pool signs only inside the program. */
function merged(mentions: readonly AccountMeta[]): AccountMeta[] {
  const accounts = new Map<string, AccountMeta>()
  for (const { pubkey, isSigner, isWritable } of mentions) {
    const known = accounts.get(pubkey.toBase58())
    accounts.set(pubkey.toBase58(), {
      pubkey,
      isSigner: (known?.isSigner ?? false) || (isSigner && !pubkey.equals(pool)),
      isWritable: (known?.isWritable ?? false) || isWritable,
    })
  }
  return [...accounts.values()]
}

/** A read-only account that does not sign. */
export function readOnly(pubkey: PublicKey): AccountMeta {
  return { pubkey, isSigner: false, isWritable: false }
}
