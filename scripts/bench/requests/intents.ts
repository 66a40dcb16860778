import { Keypair } from '@solana/web3.js'
import { solMint } from '../../../src/kernel/tokens.js'
import { faucetOf, requestAirdrop } from '../../sandbox/chain/faucet.js'
import { startSandbox } from '../../sandbox/server.js'
import type { BenchOptions, Outcome } from '../outcome.js'
import { startServers } from '../servers.js'
import { compareRequests, countStatements, outcomeOf, startService } from './compare.js'
import { postJson, startKoaFloor } from './floor.js'

const recipients = 16
const oneSol = 1_000_000_000n

/** `POST /payments/intent`: builds and stores an unsigned transfer. The chain is the stand-in, in the process of the load. */
export async function benchIntents({ rounds = 3 }: BenchOptions): Promise<Outcome> {
  const servers = await startServers('.data/bench', countStatements)
  const treasury = Keypair.generate().publicKey.toBase58()
  const sandbox = await startSandbox({ port: 0, treasury })
  try {
    await servers.sql('create extension pg_stat_statements')
    const floor = await startKoaFloor(servers)
    const settings = {
      SOLANA_RPC_URLS: sandbox.url,
      PRICE_URL: `${sandbox.url}/price/v3`,
      TREASURY_WALLET: treasury,
    }
    const service = await startService(servers, settings)
    const wallets = Array.from({ length: recipients }, () => Keypair.generate().publicKey.toBase58())
    for (const wallet of wallets) requestAirdrop(sandbox.chain, wallet, oneSol)
    const sourceWalletAddress = faucetOf(sandbox.chain).publicKey.toBase58()
    let serial = 0
    const next = (): string => {
      serial += 1
      return postJson(service.url, '/payments/intent', {
        creatorId: wallets[serial % recipients],
        amount: 0.05,
        inputTokenMint: solMint,
        sourceWalletAddress,
      })
    }
    const results = await compareRequests({
      unit: 'intent',
      servers,
      rounds,
      targets: { service: { ...service, next }, floor },
    })
    return outcomeOf('intent', 'one insert in bare Koa, as in `record`', results)
  } finally {
    await servers.close()
    await sandbox.close()
  }
}
