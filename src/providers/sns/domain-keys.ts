import { createHash } from 'node:crypto'
import { PublicKey } from '@solana/web3.js'

/** Accounts of the Solana Name Service, mainnet. */
export const nameProgram = new PublicKey('namesLPneVptA9Z5rqUDD9tMTWEJwofgaYwp8cawRkX')
export const solRoot = new PublicKey('58PwtjSDuFHuUkYjH9BYnnQKHfwo9reZhC2zMJv9JPkx')
const recordsClass = new PublicKey('2pMnqHvei2N5oDcVGCRdZx48gqti199wr5CsyTTafsbo')
const tokenizer = new PublicKey('nftD3vbNkNqfj2Sd3HZwbpw4BxxKWr4AjGb9X38JeZk')
const noClass = new PublicKey(new Uint8Array(32))

export interface DomainKeys {
  /** The registry entry, which names the owner. */
  readonly registry: PublicKey
  /** Says whether the domain is wrapped in an NFT. */
  readonly nft: PublicKey
  /** The older payment record, with its own signature. */
  readonly recordV1: PublicKey
  readonly recordV2: PublicKey
}

/**
 * Derives the accounts of `name.sol` or `sub.name.sol` as the name service does: program address of
 * [sha256("SPL Name Service" + name), class, parent]. `domain` is in the form of `parseSolDomain`.
 */
export function domainKeys(domain: string): DomainKeys {
  const [name = '', sub] = domain.slice(0, -'.sol'.length).split('.').reverse()
  const top = nameKey(name, solRoot)
  const registry = sub === undefined ? top : nameKey(`\0${sub}`, top)
  return {
    registry,
    nft: PublicKey.findProgramAddressSync([Buffer.from('nft_record'), registry.toBuffer()], tokenizer)[0],
    recordV1: nameKey('\x01SOL', registry),
    recordV2: nameKey('\x02SOL', registry, recordsClass),
  }
}

function nameKey(name: string, parent: PublicKey, nameClass = noClass): PublicKey {
  const hash = createHash('sha256').update(`SPL Name Service${name}`).digest()
  return PublicKey.findProgramAddressSync([hash, nameClass.toBuffer(), parent.toBuffer()], nameProgram)[0]
}
