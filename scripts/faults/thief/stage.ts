import { query } from '../../../src/platform/database/database.js'
import { waitUntil } from '../../dev/wait-until.js'
import { codeIn } from '../../kit/client.js'
import type { Defer } from '../../kit/closing.js'
import type { ServerUrls } from '../../kit/servers.js'
import { openStage as openWorld, type Stage as World } from '../world/stage.js'

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

/** The service as owners and thieves see it. */
export interface Stage extends Pick<World, 'webUrls' | 'db' | 'sandbox' | 'commands'> {
  /** The mails to these addresses, newest first. Waits until all that were queued for them have arrived. */
  readMails(addresses: readonly string[]): Promise<Mail[]>
  /** Lets time pass for what protects an account. */
  age(userId: string, hours: number): Promise<void>
}

const mailMs = 30_000
const totpStepSeconds = 30

export async function openStage(
  defer: Defer,
  servers: ServerUrls,
  seed: number,
  webs: number,
): Promise<Stage> {
  const world = await openWorld(defer, servers, seed, {
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
  const { db, sandbox } = world
  const aged = await agedTables(world)
  return {
    ...world,
    async readMails(addresses) {
      const waits = () => db('emails').whereIn('recipient', addresses).whereNotNull('due_at').first('id')
      if (!(await waitUntil(async () => (await waits()) === undefined, mailMs)))
        throw new Error(`mails to ${addresses.join(', ')} did not arrive`)
      const rows = await query<{ id: string; kind: string }>(db, {
        name: 'thief.mails',
        text: 'select id::text as id, kind from emails where recipient = any($1::text[]) order by created_at desc, id',
        values: [addresses],
      })
      // The Message-ID is the id of the row.
      const texts = new Map(
        sandbox.mail.received().map(({ messageId, to, text }) => [messageId.split(/[<@]/)[1], { to, text }]),
      )
      return rows.flatMap(({ id, kind }) => {
        const { to = '', text } = texts.get(id) ?? {}
        return text === undefined ? [] : [{ id, kind, to, text, links: linksIn(text), code: codeIn(text) }]
      })
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

function linksIn(text: string): ReadonlyMap<string, string> {
  const links = text.matchAll(/#([\w-]+)=([\w-]{43})(?![\w-])/g)
  return new Map([...links].map(([, purpose = '', token = '']) => [purpose, token]))
}

interface AgedTable {
  readonly table: string
  readonly key: string
  readonly columns: readonly string[]
}

/** Tables with rows of one account, apart from its money: the ledger and the withdrawals keep their times. */
function agedTables({ db }: World): Promise<AgedTable[]> {
  return query<AgedTable>(db, {
    name: 'thief.aged-tables',
    text: /* sql */ `
      select t.table_name as "table", case t.table_name when 'users' then 'id' else 'user_id' end as key,
        array_agg(t.column_name::text) as columns
        from information_schema.columns t join information_schema.tables b using (table_schema, table_name)
       where t.table_schema = 'public' and b.table_type = 'BASE TABLE' and t.is_generated = 'NEVER'
         and t.data_type = 'timestamp with time zone'
         and t.table_name not like 'ledger%' and t.table_name not in ('withdrawals', 'wallets')
         and (t.table_name = 'users' or exists (
           select from information_schema.columns k
            where k.table_schema = 'public' and k.table_name = t.table_name and k.column_name = 'user_id'))
       group by t.table_name order by t.table_name`,
    values: [],
  })
}
