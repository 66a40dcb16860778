import type { Knex } from 'knex'
import { verifyMessageSignature } from '../../kernel/ed25519.js'
import { type Token, tokenByMint, tokenBySymbol } from '../../kernel/tokens.js'
import { messageOf } from '../../kernel/wire-transaction.js'
import { query } from '../../platform/database/database.js'
import type { Claim } from '../record/claim.js'
import { factsFromPayment, possibleUnits, type TipFacts } from './match-tip.js'
import type { DueTip } from './tip-queue.js'

/** Signature checks per tip. One takes 0.1 ms, and callers choose what they claim, so the number is bounded. */
const maxTried = 4

/** A payment intent of a direct transfer. Amounts are in base units. */
interface DirectIntent {
  readonly id: string
  readonly payoutWallet: string
  readonly custodyWallet: string | null
  readonly sourceWallet: string
  readonly mint: string
  readonly gross: bigint
  readonly net: bigint
  readonly fee: bigint
  readonly transaction: Uint8Array
  readonly message: string | null
  readonly createdAt: Date
}

type DirectIntentRow = Omit<DirectIntent, 'gross' | 'net' | 'fee'> & Record<'gross' | 'net' | 'fee', string>

/**
 * The facts of landed tips whose signature is valid for the unchanged message of a payment intent. All instructions are
 * then ours and succeeded, so the amounts are known without fetching the transaction. Only for direct transfers between three
 * different wallets, and never when a creator's custody wallet pays: such a transaction is no tip. Other tips, and those
 * altered by a wallet, are not in the result.
 */
export async function verifyIssuedSignatures(
  db: Knex,
  tips: readonly DueTip[],
  treasury: string,
): Promise<Map<string, TipFacts>> {
  const intents = await readDirectIntents(db, tips)
  const proven = new Map<string, TipFacts>()
  async function prove(tip: DueTip): Promise<void> {
    for (const intent of candidates(tip, intents)) {
      if (!(await verifyMessageSignature(intent.sourceWallet, messageOf(intent.transaction), tip.id)))
        continue
      const facts = factsFromIntent(tip, intent, treasury)
      if (facts !== undefined) proven.set(tip.id, facts)
      return
    }
  }
  await Promise.all(tips.map(prove))
  return proven
}

function factsFromIntent({ claims }: DueTip, intent: DirectIntent, treasury: string): TipFacts | undefined {
  const { id, message, payoutWallet: recipient, sourceWallet: sender, mint, net: received, fee } = intent
  const { custodyWallet } = intent
  // If two of the three are the same wallet, only balance changes show the amounts.
  if (new Set([recipient, sender, treasury]).size < 3) return undefined
  const token = tokenByMint(mint) as Token
  return factsFromPayment(
    claims,
    { recipient, sender, token, received },
    {
      custodyWallet,
      feeTransfer: fee,
      intent: { id, message, isCertain: true },
      isUnderpaid: false,
      // The transaction expires a minute after it was issued, so the block is hardly later.
      paidAt: intent.createdAt,
      credits: new Map(token.symbol === 'USDC' ? [[recipient, received]] : []),
    },
  )
}

interface ClaimedPayment {
  readonly sender: string
  readonly recipient: string
  readonly gross: bigint
}

/** The intents the claims refer to: by id, or by supporter, creator wallet and amount. */
function candidates(
  { claims }: DueTip,
  intents: ReadonlyMap<string, readonly DirectIntent[]>,
): DirectIntent[] {
  const keys = claims.flatMap((claim) => [claim.intentId ?? '', ...claimedPayments(claim).map(keyOf)])
  return [...new Set(keys.flatMap((key) => intents.get(key) ?? []))].slice(0, maxTried)
}

function claimedPayments(claim: Claim): ClaimedPayment[] {
  const token = tokenBySymbol(claim.tokenSymbol)
  if (token === undefined) return []
  const { sender, creatorWallet: recipient } = claim
  return possibleUnits(claim, token).map((gross) => ({ sender, recipient, gross }))
}

function keyOf({ sender, recipient, gross }: ClaimedPayment): string {
  return `${sender} ${recipient} ${gross}`
}

async function readDirectIntents(db: Knex, tips: readonly DueTip[]): Promise<Map<string, DirectIntent[]>> {
  const claims = tips.flatMap((tip) => tip.claims)
  if (claims.length === 0) return new Map()
  const payments = [...new Map(claims.flatMap(claimedPayments).map((one) => [keyOf(one), one])).values()]
  const rows = await query<DirectIntentRow>(db, {
    name: 'tips.direct-intents',
    text: /* sql */ `
      with wanted as (
        select id from payment_intents where id = any((select $1::text[])::text[])
        union
        select i.id from unnest((select $2::text[]), (select $3::text[]), (select $4::numeric[])) as p(sender, recipient, gross)
        cross join lateral (
          select id from payment_intents
          where source_wallet = p.sender and payout_wallet = p.recipient and input_raw = p.gross
          order by created_at desc limit ${maxTried}) i)
      select i.id, i.payout_wallet as "payoutWallet", i.creator_wallet as "custodyWallet", i.source_wallet as "sourceWallet", i.input_mint as mint,
             i.input_raw as gross, i.expected_raw as net, i.fee_raw as fee, i.transaction,
             i.message, i.created_at as "createdAt"
      from wanted join payment_intents i using (id)
      where i.provider = 'direct-transfer' and i.input_mint = i.output_mint
        and not exists (select from wallets where public_key = i.source_wallet)
      order by i.created_at desc`,
    values: [
      [...new Set(claims.flatMap(({ intentId }) => intentId ?? []))],
      payments.map(({ sender }) => sender),
      payments.map(({ recipient }) => recipient),
      payments.map(({ gross }) => gross),
    ],
  })
  const byKey = new Map<string, DirectIntent[]>()
  const add = (key: string, intent: DirectIntent): void => {
    byKey.set(key, [...(byKey.get(key) ?? []), intent])
  }
  for (const { gross, net, fee, ...row } of rows) {
    const intent = { ...row, gross: BigInt(gross), net: BigInt(net), fee: BigInt(fee) }
    const { id, sourceWallet: sender, payoutWallet: recipient } = intent
    add(id, intent)
    add(keyOf({ sender, recipient, gross: intent.gross }), intent)
  }
  return byKey
}
