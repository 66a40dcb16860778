import { type AccountMeta, PublicKey, TransactionInstruction } from '@solana/web3.js'
import { poolSeed, signerFlag, swapAccountsMax, writableFlag } from './swap-program.js'

/** The swap engines' program on mainnet: what checks its name there finds the same one here. */
export const swapProgramId = new PublicKey('JUP6LkbZbjS1jKKwapdHNy74zcZ3tLUZoi5QNyVTaV4')
const [poolAddress, poolBump] = PublicKey.findProgramAddressSync([Buffer.from(poolSeed)], swapProgramId)
/** The owner of all liquidity, and the holder of the lamports paid out as native SOL. */
export const pool = poolAddress

/**
 * One instruction of the swap program that carries out these calls in turn, the pool signing where it has to.
 * `mentioned`: further accounts it names. Throws RangeError for more accounts than it can name.
 */
export function swapInstruction(
  calls: readonly TransactionInstruction[],
  mentioned: readonly AccountMeta[],
): TransactionInstruction {
  const used = calls.flatMap(({ programId, keys }) => [...keys, readOnly(programId)])
  const keys = merged([...used, ...mentioned])
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

/** Every account once, with the most any mention asks for; the pool signs inside the program alone. */
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

/** An account that is named and not changed. */
export function readOnly(pubkey: PublicKey): AccountMeta {
  return { pubkey, isSigner: false, isWritable: false }
}
