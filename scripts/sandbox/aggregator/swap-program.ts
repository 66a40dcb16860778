// The program at the swap engine's address. As on a real route, it pays from a pool for which no wallet signs: it makes the calls
// listed in its data and signs for its own pool. It does not check the calls, so anyone can empty the pool. The server alone sets
// the price. Never use this program outside a sandbox.
import { inflateRawSync } from 'node:zlib'
import { type AccountMeta, PublicKey, TransactionInstruction } from '@solana/web3.js'

/** Maximum of accounts of one instruction. The instruction's data has six bits for an account's position. */
const swapAccountsMax = 64
const signerFlag = 0x40
const writableFlag = 0x80
/** The first seed of the pool's address; the second is its bump. */
const poolSeed = 'pool'

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

export function readOnly(pubkey: PublicKey): AccountMeta {
  return { pubkey, isSigner: false, isWritable: false }
}

/**
 * The program as an ELF file for the virtual machine: 1,920 bytes of sBPF version 0. For each call in the data of `swapInstruction` it
 * invokes `sol_invoke_signed_c` with the seeds `pool` and the first byte of the data. The assembler that made it and its source are
 * in the history: `git show 5dac1d82:scripts/sandbox/aggregator/program/swap-program.ts`.
 */
export function swapProgram(): Buffer {
  return inflateRawSync(Buffer.from(packedProgram, 'base64'))
}

const packedProgram = `
rVU9b9NQFD1+dmIHhrigQDZcoQqXIUqLirKRBdSBgQXRLWrTKESkDYktSvAAAiExByoxwx9gyxhGBn4AY0cmxEY2o/fufZbtkHTh
SdHJuR/vftnXL+/evycMA/qY+APJfjJvMn4tJCZoogETTdgoKttCyj6P38wsOiyXfhaALxbxPP5AFrWfYD+H88njK2RR+82uEI67
hBt2qGqLXsxjye0i2U4d2QOg6wCelPMFFfuawuEB8YeiD+k4Y24L8o98jpeS7yq5syDfU/LqgtxXco/ybT9QGDVcjk+zCvw6c8F8
i7nJfBu6rpYPlG/T/Y+KwDyO4zHHi3wf6fplvQ2JNhDHcVzAmerPrMf5lVb3aSqAp4NBv+1jXXNlJ9hOprsu47qJ3qI+KB599BK5
QfktvcdV99QTvVD2DcWHE+pTdPN3rPOW+vEn4hWxnfRb1qnthu+pjhsm9aH8hp+bW9yvhgqPaYHzKXA+8vlzgWjPUfrhB46/6xKf
CO635+l8pH/FWqO5Tfi5uc5zMoE7q/LYydqfmIAt575DgzgRQFHew30MNkrJ/AzOVz5RtqXn/Cum/ldVfuPXlGd5k+dqcL0G1ysv
8ZbMV/p/pvdqarHeYr0FyInJ/skr3ro6/ney5/f1lHHKu+IUq49B7V88waDf6h0/GzzptIJe97hz2Gqr/cB75gL7rrH5nOWXmOs7
L+d4Edl9dZF5lVGvy7NUnLR+4dTCzvMQtcPxcTA+IgxHqI06fflfCfaPem3UgsdBOAr3D/BfjsG/4jn7G7l9qo/NtQv8e4/Xk+9K
1l/3ocw6keuXxny/8vGvAiil/PX8NLqp70baX8s9rj3RL/memEv8N1O69HnH/o1z8v8L
`
