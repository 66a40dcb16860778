import { PublicKey } from '@solana/web3.js'
import { z } from 'zod'
import { parseSolDomain } from '../../../src/kernel/sol-domain.js'
import { domainKeys, nameProgram, solRoot } from '../../../src/providers/sns/domain-keys.js'
import { control, type Route } from '../http-server.js'
import type { LocalChain } from './local-chain.js'
import { key } from './rpc/params.js'

const domainRequest = z.strictObject({
  domain: z
    .string()
    .transform((text) => parseSolDomain(text))
    .pipe(z.string('domain: name.sol or sub.name.sol')),
  owner: key,
})

/**
 * `POST /dev/domains { domain, owner }`: makes a wallet the owner of a `.sol` domain. Writes the account as the name
 * service does: parent, owner and an empty class, 32 bytes each.
 */
export function domainControl(chain: LocalChain): Route {
  return control(domainRequest, ({ domain, owner }) => writeDomain(chain, domain, owner))
}

function writeDomain(chain: LocalChain, domain: string, owner: string): void {
  const [name = '', parentName] = domain.slice(0, -'.sol'.length).split('.')
  const parent = parentName === undefined ? solRoot : domainKeys(domain.slice(name.length + 1)).registry
  const data = Buffer.concat([parent.toBuffer(), new PublicKey(owner).toBuffer(), Buffer.alloc(32)])
  chain.setAccount(domainKeys(domain).registry.toBase58(), { owner: nameProgram.toBase58(), data })
}
