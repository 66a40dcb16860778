import type { PublicKey } from '@solana/web3.js'

/**
 * A transfer in version 1 by hand: prefix, header, config mask, blockhash, counts, keys, instruction headers, instructions; then
 * signatures. `data`: of the instruction of the system program.
 */
export function versionOneTransfer(
  keys: readonly [from: PublicKey, to: PublicKey, program: PublicKey],
  data: Uint8Array,
): { raw: Uint8Array; message: Uint8Array; signature: Uint8Array } {
  const message = Buffer.concat([
    Buffer.from([0x81, 1, 0, 1, 0, 0, 0, 0]),
    Buffer.alloc(32, 7),
    Buffer.from([1, 3]),
    ...keys.map((key) => key.toBuffer()),
    Buffer.from([2, 2, data.length, 0]),
    Buffer.from([0, 1]),
    data,
  ])
  const signature = Buffer.alloc(64, 9)
  return { raw: Buffer.concat([message, signature]), message, signature }
}
