import type { Knex } from 'knex'
import { tokensSql } from '../../kernel/tokens.js'
import { query } from '../../platform/database/database.js'
import { amountSql, byRequestSql, readLines, timeSql, type WholeStory } from './story.js'

interface IntentRow {
  readonly facts: readonly string[]
  readonly creatorId: string | null
  readonly isDue: boolean
}

/** A payment intent, and the tips that carry it. */
export async function tellIntent(db: Knex, id: string): Promise<WholeStory | undefined> {
  const [intent] = await query<IntentRow>(db, { name: 'trace.intent', text: intentSql, values: [id] })
  if (intent === undefined) return undefined
  const { facts, creatorId, isDue } = intent
  return {
    kind: 'intent',
    id,
    facts,
    lines: await readLines(db, 'intent-life', lifeSql, [id]),
    related: creatorId === null ? [] : [{ kind: 'creator' as const, id: creatorId }],
    commands: isDue ? [`work retry ${id} --kind finder --apply`] : [],
  }
}

const intentSql = /* sql */ `
  select p.user_id as "creatorId", i.due_at is not null as "isDue", array_remove(array[
      'An intent to pay ' || ${amountSql('i.input_raw', 'coalesce(k.decimals, 0)')} || ' ' || coalesce(k.symbol, i.input_mint) || ' from '
        || i.source_wallet || ' to ' || i.payout_wallet || ', by ' || i.provider || '.',
      'Its transaction can land up to block height ' || i.last_valid_block_height || '.',
      'The finder looks for its payment next at ' || ${timeSql('i.due_at')} || ', after ' || i.attempts || ' searches.'], null) as facts
  from payment_intents i join parties p on p.id = i.recipient_party left join ${tokensSql} on k.mint = i.input_mint
  where i.id = $1`

const lifeSql = /* sql */ `
  select i.created_at, 'the intent was made' || ${byRequestSql('i')} from payment_intents i where i.id = $1
  union all (select recorded_at, 'the tip ' || id || ' was recorded: ' || status || short from (
      select id, recorded_at, status, '' as short from tips where intent_id = $1
      union select id, recorded_at, status, ', it pays too little' from tips where underpaid_intent_id = $1
      union select id, recorded_at, status, '' from tips
        where claimed_intent_id = $1 and intent_id is null and underpaid_intent_id is null) carrying
    order by recorded_at desc limit 20)`
