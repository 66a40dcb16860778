import { createRequire } from 'node:module'

/** What tests use of @solana/kit and @solana/pay, whose versions differ from litesvm's. Addresses and signatures are texts. */
interface Kit {
  createSolanaRpc(url: string): KitRpc
  createKeyPairFromBytes(bytes: Uint8Array): Promise<KitKeys>
  getBase64Encoder(): { encode(text: string): Uint8Array }
  getTransactionDecoder(): { decode(bytes: Uint8Array): KitTransaction }
  getCompiledTransactionMessageDecoder(): { decode(bytes: Uint8Array): KitCompiledMessage }
  decompileTransactionMessage(message: KitCompiledMessage): KitMessage
  setTransactionMessageFeePayer(wallet: string, message: KitMessage): KitMessage
  setTransactionMessageLifetimeUsingBlockhash(lifetime: KitLifetime, message: KitMessage): KitMessage
  compileTransaction(message: KitMessage): KitTransaction
  signTransaction(keys: readonly KitKeys[], transaction: KitTransaction): Promise<KitTransaction>
  getSignatureFromTransaction(transaction: KitTransaction): string
  getBase64EncodedWireTransaction(transaction: KitTransaction): string
}
interface KitRpc {
  getLatestBlockhash(): { send(): Promise<{ readonly value: KitLifetime }> }
  sendTransaction(wire: string, options: { encoding: 'base64' }): { send(): Promise<string> }
}
interface KitTransaction {
  readonly messageBytes: Uint8Array
}
interface KitCompiledMessage {
  readonly lifetimeToken: string
}
interface KitLifetime {
  readonly blockhash: string
}
/** Opaque values that go from one function of the kit to the next. */
type KitMessage = { readonly kind: 'message' }
type KitKeys = { readonly kind: 'keys' }

interface SolanaPay {
  encodeURL(fields: { link: URL }): URL
  parseURL(url: string): { readonly link: URL }
  fetchTransaction(rpc: KitRpc, account: string, link: URL): Promise<KitTransaction>
  findReference(rpc: KitRpc, reference: string): Promise<{ readonly signature: string }>
  validateTransfer(
    rpc: KitRpc,
    signature: string,
    expected: { recipient: string; amount: number; splToken?: string; reference: string },
  ): Promise<unknown>
}

const ofSolanaPay = createRequire(createRequire(import.meta.url).resolve('solana-pay-for-tests/package.json'))
export const solanaPay: SolanaPay = ofSolanaPay('@solana/pay')
export const kit: Kit = ofSolanaPay('@solana/kit')
