import { PublicKey } from '@solana/web3.js'
import { z } from 'zod'
import { solDomainFrom } from '../../src/kernel/sol-domain.js'
import { domainKeys, nameProgram, solRoot } from '../../src/providers/sns/domain-keys.js'
import type { LocalChain } from './chain/local-chain.js'
import { key } from './chain/rpc/params.js'
import { json, type Route, readControl } from './exchange.js'

const planted = z.strictObject({
  domain: z
    .string()
    .transform((text) => solDomainFrom(text))
    .pipe(z.string('domain: name.sol or sub.name.sol')),
  owner: key,
})

/**
 * `POST /dev/domains { domain, owner }`: gives a wallet a `.sol` domain, or passes it on, as the name service would
 * have written it: parent, owner and no class, 32 bytes each.
 */
export function domainControl(chain: LocalChain): Route {
  return (request) => {
    const { domain, owner } = readControl(planted, request)
    plantDomain(chain, domain, owner)
    return json(200, { success: true })
  }
}

function plantDomain(chain: LocalChain, domain: string, owner: string): void {
  const [name = '', parentName] = domain.slice(0, -'.sol'.length).split('.')
  const parent = parentName === undefined ? solRoot : domainKeys(domain.slice(name.length + 1)).registry
  const data = Buffer.concat([parent.toBuffer(), new PublicKey(owner).toBuffer(), Buffer.alloc(32)])
  chain.setAccount(domainKeys(domain).registry.toBase58(), {
    lamports: chain.svm.rentExempt(data.length),
    owner: nameProgram.toBase58(),
    data,
    executable: false,
  })
}
