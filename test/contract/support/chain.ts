import {
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'
import { control, standIns } from './server.js'

export const sol = 'So11111111111111111111111111111111111111112'
export const usdc = 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v'
export const usdt = 'Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB'
export const bonk = 'DezXAZ8z7PnrnRJjz3wXBoRgixCa6xjnB7YaB1pPB263'

export interface Supporter {
  readonly wallet: string
  /** Signs what the service built and submits it. Returns the signature. */
  signAndSubmit(transaction: string): Promise<string>
  /** Lands a transaction that fails on the chain. Returns its signature. */
  submitFailing(): Promise<string>
}

/** A wallet nobody has used. */
export function freshWallet(): string {
  return Keypair.generate().publicKey.toBase58()
}

/** A signature no transaction has. */
export function unknownSignature(): string {
  return encode(
    Buffer.concat([Keypair.generate().publicKey.toBuffer(), Keypair.generate().publicKey.toBuffer()]),
  )
}

/** The block height of the chain. */
export function blockHeight(): Promise<number> {
  return new Connection(`${standIns}/`, 'confirmed').getBlockHeight()
}

/** A supporter with 10 SOL, 500 USDC and 500 USDT on the chain. */
export async function fundedSupporter(): Promise<Supporter> {
  const pair = Keypair.generate()
  const wallet = pair.publicKey.toBase58()
  await control('/dev/airdrop', { wallet, token: 'SOL', amount: '10' })
  for (const token of ['USDC', 'USDT']) await control('/dev/airdrop', { wallet, token, amount: '500' })
  const connection = new Connection(`${standIns}/`, 'confirmed')
  return {
    wallet,
    async signAndSubmit(transaction) {
      const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
      signed.sign([pair])
      return connection.sendTransaction(signed)
    },
    async submitFailing() {
      const { blockhash } = await connection.getLatestBlockhash()
      const tooMuch = SystemProgram.transfer({
        fromPubkey: pair.publicKey,
        toPubkey: new PublicKey(freshWallet()),
        lamports: 4_000_000_000_000_000n,
      })
      const message = new TransactionMessage({
        payerKey: pair.publicKey,
        recentBlockhash: blockhash,
        instructions: [tooMuch],
      })
      const signed = new VersionedTransaction(message.compileToV0Message())
      signed.sign([pair])
      return connection.sendTransaction(signed, { skipPreflight: true })
    },
  }
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'

function encode(bytes: Uint8Array): string {
  let value = BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  for (; value > 0n; value /= 58n) text = (alphabet[Number(value % 58n)] ?? '') + text
  const zeros = bytes.findIndex((byte) => byte !== 0)
  return '1'.repeat(Math.max(0, zeros)) + text
}
