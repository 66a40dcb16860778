import { generateKeyPairSync, randomBytes } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { encodeBase58 } from '../../src/kernel/base58.js'
import { Refusal } from '../bootstrap/progress.mjs'

const keyBytes = 32
const keypairBytes = 64

const secretsFile = z.object({ walletKek: z.base64(), otpPepper: z.base64() })
const fiatpayFile = z.object({ secretKey: z.string().min(1) })
const keypairFile = z.array(z.int().min(0).max(255)).length(keypairBytes)

/** `walletKek`, `otpPepper`: 32 bytes in base64. `fiatpayKey`, `payoutKey`: secret keys. `treasuryWallet`: an address in base58. */
export interface Secrets {
  readonly walletKek: string
  readonly otpPepper: string
  readonly fiatpayKey: string
  readonly payoutKey: string
  readonly treasuryWallet: string
}

/**
 * The secrets of a development stack, created once and stored next to its data: only `walletKek` opens the sealed
 * wallets. The treasury's key pair is a file in the format of the Solana command line (64 bytes: seed, public key).
 */
export function loadOrCreateSecrets(dataDir: string): Secrets {
  const made = loadOrCreate(join(dataDir, 'secrets.json'), secretsFile, () => ({
    walletKek: randomBytes(keyBytes).toString('base64'),
    otpPepper: randomBytes(keyBytes).toString('base64'),
  }))
  const providerKey = (file: string) =>
    loadOrCreate(join(dataDir, file), fiatpayFile, () => ({
      secretKey: `sk_test_${randomBytes(keyBytes).toString('hex')}`,
    })).secretKey
  const treasury = loadOrCreate(join(dataDir, 'treasury.json'), keypairFile, newKeypair)
  return {
    ...made,
    fiatpayKey: providerKey('fiatpay-key.json'),
    payoutKey: providerKey('payout-key.json'),
    treasuryWallet: encodeBase58(Uint8Array.from(treasury.slice(keyBytes))),
  }
}

function loadOrCreate<Content>(file: string, shape: z.ZodType<Content>, create: () => Content): Content {
  if (!existsSync(file)) write(file, JSON.stringify(create()))
  try {
    return shape.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    throw new Refusal(`${file} is damaged: restore it, or delete the data folder to start with empty data`)
  }
}

/** Atomic and synced to disk, because data will be sealed with these keys. */
function write(file: string, text: string): void {
  const draft = `${file}.draft`
  const handle = openSync(draft, 'w', 0o600)
  writeSync(handle, text)
  fsyncSync(handle)
  closeSync(handle)
  renameSync(draft, file)
}

function newKeypair(): number[] {
  const { privateKey } = generateKeyPairSync('ed25519')
  const { d = '', x = '' } = privateKey.export({ format: 'jwk' })
  return [...Buffer.from(d, 'base64url'), ...Buffer.from(x, 'base64url')]
}
