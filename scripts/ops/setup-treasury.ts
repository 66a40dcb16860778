import type { Keypair } from '@solana/web3.js'
import { loadTreasury } from '../../src/platform/config/config.js'
import { createDb } from '../../src/platform/database/database.js'
import type { Chain } from '../../src/ports/chain.js'
import { createSolanaChain } from '../../src/providers/solana/solana-chain.js'
import { audit } from './support/audit.js'
import {
  acting,
  actorOf,
  exitHelp,
  type Outcome,
  runCommand,
  UsageError,
  type Values,
} from './support/command.js'
import { type FeeAccounts, instructionsFor, readFeeAccounts } from './support/fee-accounts.js'
import { readKeyPair } from './support/key-pair.js'
import { submitAndConfirm } from './support/submit-transaction.js'

/** Opens the token accounts that the platform's fees arrive at; without them tips go out without a fee. */
const help = `npm run ops -- setup-treasury [--apply --payer <file>]

Looks at the accounts the platform's fees arrive at, and opens those that are missing: a token account for every known
token of TREASURY_WALLET (direct transfers, aggregator-v6) and of AGGREGATOR_REFERRAL_ACCOUNT (aggregator-ultra), and
the SOL the treasury's wallet has to hold to exist. Without --apply nothing is changed. Run it again after a token
was added: what is there is left alone.

  --payer <file>   key pair that pays for it (about 0.002 SOL an account), as the Solana command line keeps it
  --apply          do it
  --as <name>      in whose name, for the audit log; default: the user of the operating system
  --json           answer as one line of JSON
  --help

Reads TREASURY_WALLET, AGGREGATOR_REFERRAL_ACCOUNT, SOLANA_RPC_URLS, SOLANA_GENESIS_HASH and DATABASE_URL.
${exitHelp}`

/** One transaction at a time needs no batches, and nobody measures its calls. */
const nobody = (): void => undefined
const alone = { statusBatch: 1, transactionBatch: 1, onCall: nobody, onFailure: nobody }
/** Accounts opened by one transaction; more do not fit a packet. */
const accountsPerTransaction = 6

async function apply(chain: Chain, plan: FeeAccounts, payer: Keypair, actor: string): Promise<string[]> {
  const { treasury } = plan
  const instructions = instructionsFor(plan, payer.publicKey)
  const signatures: string[] = []
  const [rpcUrl = ''] = treasury.rpcUrls
  const db = createDb(treasury.databaseUrl, 1)
  try {
    // What an operator does has to be written down: without the database nothing is done.
    await db.raw('select 1')
    for (let at = 0; at < instructions.length; at += accountsPerTransaction) {
      const some = instructions.slice(at, at + accountsPerTransaction)
      const signature = await submitAndConfirm(chain, rpcUrl, payer, some)
      signatures.push(signature)
      const details = { signature, payer: payer.publicKey.toBase58(), instructions: some.length }
      const subject = `treasury:${treasury.wallet}`
      await db.transaction((trx) => audit(trx, { actor, action: 'setup-treasury', subject, details }))
    }
  } finally {
    await db.destroy()
  }
  return signatures
}

const options = { ...acting, payer: { type: 'string' } } as const

type Given = Values<typeof options>

async function run(values: Given): Promise<Outcome> {
  if (values.apply === true && values.payer === undefined)
    throw new UsageError('--apply needs --payer: somebody pays for the accounts')
  const treasury = loadTreasury()
  const { rpcUrls: urls, genesisHash } = treasury
  const chain = createSolanaChain({ urls, genesisHash, ...alone })
  const found = await readFeeAccounts(chain, treasury)
  if (values.apply !== true || values.payer === undefined || !lacking(found)) return present(found, [])
  const signatures = await apply(chain, found, readKeyPair(values.payer), actorOf(values))
  return present(await readFeeAccounts(chain, treasury), signatures)
}

function lacking({ accounts, lamportsMissing }: FeeAccounts): boolean {
  return accounts.some(({ open }) => !open) || lamportsMissing > 0n
}

function present(found: FeeAccounts, signatures: readonly string[]): Outcome {
  const { accounts, lamportsMissing, treasury } = found
  const funded = lamportsMissing === 0n ? 'funded' : `LACKS ${lamportsMissing} lamports`
  const lines = accounts.map(({ owner, symbol, address, open }) => {
    const whose = owner === treasury.wallet ? 'treasury' : 'referral'
    return `${whose}  ${symbol.padEnd(8)}${address}  ${open ? 'open' : 'MISSING'}`
  })
  const json = { wallet: treasury.wallet, lamportsMissing: String(lamportsMissing), accounts, signatures }
  const text = [
    `treasury  wallet  ${treasury.wallet}  ${funded}`,
    ...lines,
    lastLine(found, signatures),
  ].join('\n')
  return { text, json, ok: signatures.length === 0 || !lacking(found) }
}

function lastLine(found: FeeAccounts, signatures: readonly string[]): string {
  if (signatures.length > 0) return `done: ${signatures.join(' ')}`
  return lacking(found) ? 'not done; --apply --payer <file> does it' : 'nothing to do'
}

await runCommand({ help, options, run })
