import { PublicKey } from '@solana/web3.js'
import { z } from 'zod'
import { parseSolDomain } from '../../../src/kernel/sol-domain.js'
import { solMint, tokenByMint, tokenBySymbol } from '../../../src/kernel/tokens.js'
import { domainKeys, nameProgram, solRoot } from '../../../src/providers/sns/domain-keys.js'
import { control, RequestError, type Route } from '../http-server.js'
import { mintAuthorityOf, mintTokens, requestAirdrop } from './faucet.js'
import type { LocalChain } from './local-chain.js'
import { RpcError } from './rpc/error.js'
import { key } from './rpc/params.js'
import { readMint } from './token-accounts.js'

const u64Max = 2n ** 64n - 1n
const airdropRequest = z.strictObject({
  wallet: key,
  token: z.string().min(1).max(44),
  amount: z.string().regex(/^\d{1,20}(\.\d{1,18})?$/, 'amount: a decimal number of whole tokens, as text'),
})

/**
 * `POST /dev/airdrop { wallet, token, amount }`: gives a wallet SOL from the faucet or newly minted tokens in a real
 * transaction. `token` is a symbol or a mint, `amount` is in display units. Answers `{ success, signature }`.
 */
export function airdropControl(chain: LocalChain): Route {
  return control(airdropRequest, ({ wallet, token, amount }) => {
    const { mint, decimals } = findToken(chain, token)
    const raw = rawAmount(amount, decimals)
    try {
      const signature =
        mint === solMint ? requestAirdrop(chain, wallet, raw) : mintTokens(chain, wallet, mint, raw)
      return { signature }
    } catch (error) {
      if (error instanceof RpcError) throw new RequestError(400, error.message)
      throw error
    }
  })
}

function findToken(chain: LocalChain, token: string): { mint: string; decimals: number } {
  const known = tokenBySymbol(token) ?? tokenByMint(token)
  if (known) return known
  const mint = key.safeParse(token).success ? readMint(chain.svm.account(token)) : undefined
  if (!mint) throw new RequestError(400, `token ${token} is neither a known symbol nor a mint on this chain`)
  if (mint.mintAuthority !== mintAuthorityOf(chain).publicKey.toBase58()) {
    throw new RequestError(400, `the sandbox is not the mint authority of ${token}`)
  }
  return { mint: token, decimals: mint.decimals }
}

function rawAmount(display: string, decimals: number): bigint {
  const [whole = '0', fraction = ''] = display.split('.')
  if (fraction.length > decimals) throw new RequestError(400, `amount: at most ${decimals} decimal places`)
  const raw = BigInt(whole + fraction.padEnd(decimals, '0'))
  if (raw === 0n || raw > u64Max) throw new RequestError(400, 'amount: must be above 0 and fit the token')
  return raw
}

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
