import { once } from 'node:events'
import { join } from 'node:path'
import { createTransferCheckedInstruction } from '@solana/spl-token'
import { PublicKey, TransactionMessage, VersionedTransaction } from '@solana/web3.js'
import { displayText } from '../../../src/kernel/money.js'
import { usdc } from '../../../src/kernel/tokens.js'
import { opsProgram } from '../../bootstrap/ops.mjs'
import type { Draw } from '../../kit/draw.js'
import { chooseKillPoint } from '../../kit/kill-points.js'
import { startLogged } from '../../kit/service-process.js'
import { associatedAccount } from '../../sandbox/chain/faucet.js'
import { usdcOf } from './compare-moves.js'
import { firstRate, type Stage } from './stage.js'
import type { Truth } from './truth.js'

/** Commands are repeated until they end by themselves. A command says 5 when something does not answer yet. */
const triesMax = 20
const [done, refused, foundProblem, noAnswer] = [0, 1, 4, 5]

/** Runs an operator's command. Throws on an exit code that is not expected. */
async function operate(
  stage: Stage,
  [name, ...args]: readonly [string, ...string[]],
  { codes = [done], person = 0 }: OperateOptions = {},
): Promise<string> {
  for (let tries = 1; ; tries++) {
    const { code, out, err } = await stage.commands.run(name, args, person)
    if (codes.includes(code)) return out
    if (tries >= triesMax || code !== noAnswer)
      throw new Error(`ops ${name} ${args.join(' ')} ended with ${code}: ${out}${err}`)
  }
}

interface OperateOptions {
  readonly codes?: readonly number[]
  /** The second one sweeps while the first one does something else. */
  readonly person?: 0 | 1
}

/** Runs a command that is killed at a named point. If it does not come there, it ends by itself. */
async function killCommand(
  stage: Stage,
  [name, ...args]: readonly [string, ...string[]],
  seed: number,
): Promise<void> {
  const point = chooseKillPoint(seed, 'suspense', seed)
  const logFile = join(stage.logs, `${name}.log`)
  const child = startLogged([opsProgram(name), ...args], { env: stage.env, logFile, point })
  const [, signal] = await once(child, 'exit')
  if (signal === 'SIGKILL') stage.kills.push(`ops ${name} ${point.at}`)
}

/** Sweeps what was paid for. Run again, a sweep goes on where a killed one was. What expires too often is left for the next one. */
export async function sweep(stage: Stage): Promise<void> {
  const args = ['sweep', '--apply', '--payer', stage.payerFile] as const
  await operate(stage, args, { person: 1, codes: [done, foundProblem] })
}

const evidence = ['--apply', '--evidence', 'statement of the month', '--reason', 'month'] as const

/** What was there before the books began. */
export async function recordBeginning(stage: Stage): Promise<void> {
  const balance = displayText(BigInt(stage.sandbox.fiatpay.balanceKobo), 2)
  await operate(stage, ['treasury', 'record-equity', '--ngn', balance, '--reference', 'opening', ...evidence])
}

/** The fees of crypto tips arrive in the treasury without an entry. The operator records what the chain's tips brought. */
export async function recordFees(stage: Stage, truth: Truth, day: number): Promise<void> {
  const { arrived, recorded } = truth.fees
  const micro = arrived - recorded
  if (micro === 0n) return
  const amount = displayText(micro, usdc.decimals)
  const args = ['--usdc', amount, '--reference', `fees-${day}`, ...evidence]
  await operate(stage, ['treasury', 'record-equity', ...args])
  truth.fees = { arrived, recorded: arrived }
}

/** Sells a share of the treasury's USDC outside: they leave the wallet, and the naira come to the bank. */
export async function sell(stage: Stage, draw: Draw, day: number): Promise<void> {
  const { fiatpay, chain } = stage.sandbox
  const held = usdcOf(chain, stage.treasury.publicKey.toBase58())
  const micro = (held * BigInt(draw.whole(20, 80))) / 100n
  const kobo = (micro * BigInt(firstRate)) / 10_000n
  if (kobo === 0n) return
  payFromTreasury(stage, micro)
  const id = fiatpay.ids.next()
  fiatpay.topUps.write({ id, reference: String(id), amountKobo: Number(kobo) })
  const amounts = ['--usdc', displayText(micro, usdc.decimals), '--ngn', displayText(kobo, 2)]
  const args = [...amounts, '--reference', `sale-${day}`, ...evidence]
  await operate(stage, ['treasury', 'record-sale', ...args])
}

/** The treasury's key is the operator's. */
function payFromTreasury({ sandbox: { chain }, treasury, supporters }: Stage, micro: bigint): void {
  const [exchange] = supporters
  if (exchange === undefined) throw new Error('nobody buys')
  const account = (owner: PublicKey): PublicKey => associatedAccount(owner.toBase58(), usdc.mint)
  const message = new TransactionMessage({
    payerKey: treasury.publicKey,
    recentBlockhash: chain.clock.hashOf(chain.clock.slot),
    instructions: [
      createTransferCheckedInstruction(
        account(treasury.publicKey),
        new PublicKey(usdc.mint),
        account(exchange.publicKey),
        treasury.publicKey,
        micro,
        usdc.decimals,
      ),
    ],
  })
  const transaction = new VersionedTransaction(message.compileToV0Message())
  transaction.sign([treasury])
  chain.submit(transaction.serialize(), { skipPreflight: false })
}

/** Makes a reserve report, which reads the float too and moves to the books what has arrived there. Returns how many wallets it calls short. */
export async function countShortWallets(stage: Stage): Promise<number> {
  const out = await operate(stage, ['reserves', '--make', '--json'], { codes: [done, foundProblem] })
  return JSON.parse(JSON.parse(out).report).custody.shortWallets
}

/** A request that was killed before it reached the bank waits for the operator, who has it sent again. */
export async function retryMissingRefunds(stage: Stage): Promise<void> {
  const rows: { id: string }[] = await stage
    .db('refunds')
    .where({ send_state: 'manual_review', last_error: 'the provider shows no such refund' })
    .select('id')
  for (const { id } of rows)
    await operate(stage, ['refunds', '--retry', id, '--apply', '--confirm', id, '--reason', 'month'], {
      codes: [done, refused, foundProblem],
    })
}

/** The operator has a payment in suspense go back. `killed`: the command is killed first, at a point by this number. */
export async function refundSuspense(stage: Stage, payment: string, killed?: number): Promise<void> {
  const args = ['--refund', payment, '--apply', '--confirm', payment, '--reason', 'paid by mistake']
  if (killed !== undefined) await killCommand(stage, ['suspense', ...args], killed)
  await operate(stage, ['suspense', ...args], { codes: [done, refused, foundProblem, noAnswer] })
}

/** The commands with which an operator compares the books with the provider. Throws when one finds a difference. */
export async function compareWithProvider(stage: Stage): Promise<void> {
  await operate(stage, ['check-books'])
  await operate(stage, ['payouts', 'compare'])
  await operate(stage, ['disputes', '--compare'])
}
