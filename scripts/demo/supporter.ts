import {
  Connection,
  Keypair,
  PublicKey,
  SystemProgram,
  TransactionMessage,
  VersionedTransaction,
} from '@solana/web3.js'

/** A supporter with a wallet that signs and submits transactions, as a browser wallet does. */
export interface Supporter {
  readonly wallet: string
  /** Signs an unsigned transaction (base64) and submits it. Returns the signature when the node has accepted it. */
  signAndSubmit(transaction: string): Promise<string>
  /** Submits a transfer of more SOL than the wallet holds, which lands and fails. Returns its signature. */
  submitFailing(recipient: string): Promise<string>
}

/** Creates a supporter on the chain at `rpcUrl`. */
export function createSupporter(rpcUrl: string): Supporter {
  const keypair = Keypair.generate()
  const connection = new Connection(rpcUrl, 'confirmed')
  return {
    wallet: keypair.publicKey.toBase58(),
    async signAndSubmit(transaction) {
      const signed = VersionedTransaction.deserialize(Buffer.from(transaction, 'base64'))
      signed.sign([keypair])
      return connection.sendTransaction(signed)
    },
    async submitFailing(recipient) {
      const { blockhash } = await connection.getLatestBlockhash()
      const tooMuch = SystemProgram.transfer({
        fromPubkey: keypair.publicKey,
        toPubkey: new PublicKey(recipient),
        lamports: 4_000_000_000_000_000n,
      })
      const message = new TransactionMessage({
        payerKey: keypair.publicKey,
        recentBlockhash: blockhash,
        instructions: [tooMuch],
      })
      const signed = new VersionedTransaction(message.compileToV0Message())
      signed.sign([keypair])
      // Preflight would refuse it. Some wallets skip preflight, and then a failing transaction lands.
      return connection.sendTransaction(signed, { skipPreflight: true })
    },
  }
}
