import type { Knex } from 'knex'
import { hasSigned } from '../../kernel/ed25519.js'
import { type Token, tokenByMint, tokenBySymbol } from '../../kernel/tokens.js'
import { messageOf } from '../../kernel/wire-transaction.js'
import { query } from '../../platform/database/database.js'
import type { Claim } from '../record/claim.js'
import { possibleUnits } from './claim-agreement.js'
import { factsFromPayment, type TipFacts } from './match-tip.js'
import type { DueTip } from './tip-queue.js'

/** Messages tried per tip: a check takes a tenth of a millisecond, and strangers choose what they claim. */
const mostTried = 4

interface IssuedTransfer {
  readonly id: string
  readonly payoutWallet: string
  readonly sourceWallet: string
  readonly mint: string
  readonly gross: bigint
  readonly net: bigint
  readonly fee: bigint
  readonly transaction: Uint8Array
}

type Stored = Omit<IssuedTransfer, 'gross' | 'net' | 'fee'> & Record<'gross' | 'net' | 'fee', string>

/**
 * The facts of landed tips whose signature is one of the very message we issued: then every instruction is ours, all
 * of them succeeded, and what they moved is known without asking the chain for the transaction. Only for direct
 * transfers between three different wallets; whatever else, or altered by a wallet, is not among the answers.
 */
export async function verifyIssuedSignatures(
  db: Knex,
  tips: readonly DueTip[],
  treasury: string,
): Promise<Map<string, TipFacts>> {
  const issued = await readIssued(db, tips)
  const proven = new Map<string, TipFacts>()
  async function prove(tip: DueTip): Promise<void> {
    for (const one of candidates(tip, issued)) {
      if (!(await hasSigned(one.sourceWallet, messageOf(one.transaction), tip.id))) continue
      const facts = factsOfTransfer(tip, one, treasury)
      if (facts !== undefined) proven.set(tip.id, facts)
      return
    }
  }
  await Promise.all(tips.map(prove))
  return proven
}

function factsOfTransfer(
  { claims }: DueTip,
  { id, payoutWallet: recipient, sourceWallet: sender, mint, net: received, fee }: IssuedTransfer,
  treasury: string,
): TipFacts | undefined {
  // Where two of the three are one wallet, balances say more than instructions.
  if (new Set([recipient, sender, treasury]).size < 3) return undefined
  const token = tokenByMint(mint) as Token
  return factsFromPayment(claims, { recipient, sender, token, received }, fee, id)
}

/** What was issued for a payment as a claim describes it. */
interface Likeness {
  readonly sender: string
  readonly recipient: string
  readonly gross: bigint
}

/** What the claims point to: an intent by its id, or what was issued to this supporter for this wallet and amount. */
function candidates(
  { claims }: DueTip,
  issued: ReadonlyMap<string, readonly IssuedTransfer[]>,
): IssuedTransfer[] {
  const marks = claims.flatMap((claim) => [claim.intentId ?? '', ...likenesses(claim).map(keyOf)])
  return [...new Set(marks.flatMap((mark) => issued.get(mark) ?? []))].slice(0, mostTried)
}

function likenesses(claim: Claim): Likeness[] {
  const token = tokenBySymbol(claim.tokenSymbol)
  if (token === undefined) return []
  const { sender, creatorWallet: recipient } = claim
  return possibleUnits(claim, token).map((gross) => ({ sender, recipient, gross }))
}

function keyOf({ sender, recipient, gross }: Likeness): string {
  return `${sender} ${recipient} ${gross}`
}

async function readIssued(db: Knex, tips: readonly DueTip[]): Promise<Map<string, IssuedTransfer[]>> {
  const claims = tips.flatMap((tip) => tip.claims)
  if (claims.length === 0) return new Map()
  const alike = [...new Map(claims.flatMap(likenesses).map((like) => [keyOf(like), like])).values()]
  const rows = await query<Stored>(db, {
    name: 'tips.issued',
    text: /* sql */ `
      with wanted as (
        select id from payment_intents where id = any($1::text[])
        union
        select i.id from unnest($2::text[], $3::text[], $4::numeric[]) as p(sender, recipient, gross)
        cross join lateral (
          select id from payment_intents
          where source_wallet = p.sender and payout_wallet = p.recipient and input_raw = p.gross
          order by created_at desc limit ${mostTried}) i)
      select i.id, i.payout_wallet as "payoutWallet", i.source_wallet as "sourceWallet", i.input_mint as mint,
             i.input_raw as gross, i.expected_raw as net, i.fee_raw as fee, i.transaction
      from wanted join payment_intents i using (id)
      where i.provider = 'direct-transfer' and i.input_mint = i.output_mint
      order by i.created_at desc`,
    values: [
      [...new Set(claims.flatMap(({ intentId }) => intentId ?? []))],
      alike.map(({ sender }) => sender),
      alike.map(({ recipient }) => recipient),
      alike.map(({ gross }) => gross),
    ],
  })
  const issued = new Map<string, IssuedTransfer[]>()
  const note = (key: string, transfer: IssuedTransfer): void => {
    issued.set(key, [...(issued.get(key) ?? []), transfer])
  }
  for (const { gross, net, fee, ...row } of rows) {
    const transfer = { ...row, gross: BigInt(gross), net: BigInt(net), fee: BigInt(fee) }
    const { id, sourceWallet: sender, payoutWallet: recipient } = transfer
    note(id, transfer)
    note(keyOf({ sender, recipient, gross: transfer.gross }), transfer)
  }
  return issued
}
