import { setTimeout as sleep } from 'node:timers/promises'
import type { Knex } from 'knex'
import { query } from '../../../src/platform/database/database.js'
import { createSemaphore } from '../../../src/platform/semaphore.js'
import { codeIn } from '../../kit/client.js'
import type { Defer } from '../../kit/closing.js'
import type { ServerUrls } from '../../kit/servers.js'
import type { Fiatpay } from '../../sandbox/fiatpay/fiatpay.js'
import { openStage as openWorld } from '../world/stage.js'

/** A mail as its reader understands it. */
export interface Mail {
  readonly id: string
  readonly to: string
  /** What it is about: the kind of its row. */
  readonly kind: string
  readonly text: string
  /** The purpose and the token of its link. */
  readonly links: ReadonlyMap<string, string>
  /** A code of six digits that stands alone. */
  readonly code: string | undefined
}

/** The service in processes of its own, as owners and thieves see it. */
export interface Stage {
  readonly urls: readonly string[]
  readonly db: Knex
  readonly fiatpay: Fiatpay
  /** Runs an operator's command. Throws when it fails. */
  command(name: string, args: readonly string[]): Promise<void>
  /** The mails of these addresses, newest first. Waits until all that were queued for them have arrived. */
  readMails(addresses: readonly string[]): Promise<Mail[]>
  /** Lets time pass for what protects an account. */
  age(userId: string, hours: number): Promise<void>
}

const mailMs = 30_000
const pollMs = 15
const totpStepSeconds = 30
const commandsMax = 1000

export async function openStage(
  defer: Defer,
  servers: ServerUrls,
  seed: number,
  webs: number,
): Promise<Stage> {
  const { db, sandbox, commands, webUrls } = await openWorld(defer, servers, seed, {
    creators: 0,
    webs,
    workers: [{ names: ['payouts', 'reconciler', 'mailer'] }],
    bank: { settleMs: 50 },
    env: () => ({
      // Owner and thief come from networks of their own.
      TRUST_PROXY: 'true',
      CONFIRM_ACCOUNTS: 'new',
      LOG_LEVEL: 'error',
      // Nothing hangs here, so a slow machine causes no unknown outcome, and every answer waits for the provider's.
      PAYOUT_SECONDS: '20,0.1,2',
      WITHDRAW_WAIT_MS: '20000',
    }),
  })
  // The process answers one command after the other.
  const inTurn = createSemaphore({ concurrency: 1, maxWaiting: commandsMax })
  const aged = await agedTables(db)
  return {
    urls: webUrls,
    db,
    fiatpay: sandbox.fiatpay,
    command: (name, args) =>
      inTurn(async () => {
        const { code, out, err } = await commands.run(name, args)
        if (code !== 0) throw new Error(`${name} ended with ${code}: ${out}${err}`)
      }),
    async readMails(addresses) {
      await allArrived(db, addresses)
      const received = sandbox.mail.received().filter(({ to }) => addresses.includes(to))
      const ids = received.map(({ messageId }) => idOf(messageId))
      const rows = await query<{ id: string; kind: string; place: number }>(db, {
        name: 'thief.mails',
        text: /* sql */ `
          select id::text as id, kind, (row_number() over (order by created_at desc, id))::int4 as place
            from emails where id::text = any($1::text[])`,
        values: [ids],
      })
      const byId = new Map(rows.map((row) => [row.id, row]))
      return received
        .flatMap(({ messageId, to, text }) => {
          const row = byId.get(idOf(messageId))
          return row === undefined ? [] : [{ ...row, to, text, links: linksIn(text), code: codeIn(text) }]
        })
        .sort((a, b) => a.place - b.place)
    },
    async age(userId, hours) {
      for (const { table, key, columns } of aged) {
        const set = columns.map((column) => `${column} = ${column} - ${hours} * interval '1 hour'`)
        await db.raw(`update ${table} set ${set.join(', ')} where ${key} = ?`, [userId])
      }
      const steps = Math.round((hours * 3600) / totpStepSeconds)
      await db.raw('update totp_factors set last_step = last_step - ? where user_id = ?', [steps, userId])
    },
  }
}

/** The Message-ID is the id of the row. */
function idOf(messageId: string): string {
  return /^<([^@]+)@/.exec(messageId)?.[1] ?? ''
}

function linksIn(text: string): ReadonlyMap<string, string> {
  const links = text.matchAll(/#([\w-]+)=([\w-]{43})(?![\w-])/g)
  return new Map([...links].map(([, purpose = '', token = '']) => [purpose, token]))
}

async function allArrived(db: Knex, addresses: readonly string[]): Promise<void> {
  for (const deadline = Date.now() + mailMs; ; await sleep(pollMs)) {
    const waiting = await query(db, {
      name: 'thief.waiting-mails',
      text: 'select 1 from emails where recipient = any($1::text[]) and due_at is not null limit 1',
      values: [addresses],
    })
    if (waiting.length === 0) return
    if (Date.now() > deadline) throw new Error(`mails to ${addresses.join(', ')} did not arrive`)
  }
}

interface AgedTable {
  readonly table: string
  readonly key: string
  readonly columns: readonly string[]
}

/** Tables with rows of one account, apart from its money: the ledger and the withdrawals keep their times. */
function agedTables(db: Knex): Promise<AgedTable[]> {
  return query<AgedTable>(db, {
    name: 'thief.aged-tables',
    text: /* sql */ `
      select t.table_name as "table", case t.table_name when 'users' then 'id' else 'user_id' end as key,
        array_agg(t.column_name::text) as columns
        from information_schema.columns t
       where t.table_schema = 'public' and t.data_type = 'timestamp with time zone' and t.is_generated = 'NEVER'
         and t.table_name not like 'ledger%' and t.table_name not in ('withdrawals', 'wallets')
         and (t.table_name = 'users' or exists (
           select from information_schema.columns k
            where k.table_schema = 'public' and k.table_name = t.table_name and k.column_name = 'user_id'))
         and exists (
           select from information_schema.tables b
            where b.table_schema = 'public' and b.table_name = t.table_name and b.table_type = 'BASE TABLE')
       group by t.table_name order by t.table_name`,
    values: [],
  })
}
