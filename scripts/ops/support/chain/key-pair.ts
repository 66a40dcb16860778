import { readFileSync } from 'node:fs'
import { Keypair } from '@solana/web3.js'
import { z } from 'zod'
import { RefusedError } from '../order.js'

const byteMax = 255
const secretBytes = 64
const secret = z.array(z.int().min(0).max(byteMax)).length(secretBytes)

/**
 * Reads a key pair file of the Solana command line: a JSON list of 64 numbers, the seed and the public key.
 * Throws RefusedError, whose message holds nothing from the file.
 */
export function readKeyPair(file: string): Keypair {
  try {
    return Keypair.fromSecretKey(Uint8Array.from(secret.parse(JSON.parse(readFileSync(file, 'utf8')))))
  } catch {
    throw new RefusedError(`${file} cannot be read as a key pair file (a JSON list of 64 numbers)`)
  }
}
