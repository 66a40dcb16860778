import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { createNotMeLink, notMeBlocks } from '../../accounts/notify-owner.js'
import { readRecentChanges } from '../../accounts/protection.js'
import { linkUrl } from '../../accounts/secrets/secrets.js'
import { DomainError } from '../../kernel/errors.js'
import { hashSecret, newSecret } from '../../kernel/ids.js'
import { createSealer } from '../../kernel/personal-data.js'
import { queueEmail } from '../../mail/queue-email.js'
import { query } from '../../platform/database/database.js'
import { type DueRows, finishRows, takeDueRows } from '../../platform/database/due-rows.js'
import type { SealedColumn } from '../../platform/database/sealed-column.js'
import type { Services } from '../../services.js'
import { gatherAccountData } from './account-data.js'

/** One at a time: gathering reads thousands of rows. */
const exportQueue: DueRows = {
  name: 'exports',
  table: 'data_exports',
  id: 'uuid',
  batchSize: 1,
  leaseSeconds: 600,
  columns: 't.id, t.attempts',
  onFinish: { columns: { error: 'text' }, set: 'last_error = s.error' },
}
const attemptsMost = 5
const pauseMs = 60_000
const linkHours = 72
const purpose = 'data-export/1'

export const sealedExports: SealedColumn = {
  table: 'data_exports',
  column: 'sealed_file',
  id: 'id',
  idType: 'uuid',
  purpose,
  context: 'id::text',
  // Files of megabytes.
  batchSize: 5,
}

type Needs = Pick<Services, 'config' | 'db' | 'reads' | 'transact' | 'log' | 'metrics'>

interface DueExport {
  readonly id: string
  readonly attempts: number
}

/**
 * Makes the files that are due, one after the other, and mails their links. A task of the clock, not a worker: a file may take a
 * quarter of a minute to begin.
 */
export async function makeExports(services: Needs): Promise<void> {
  for (;;) {
    const [due] = await takeDueRows<DueExport>(services.db, exportQueue)
    if (due === undefined) return
    try {
      await makeExport(services, due)
    } catch (error) {
      await retryLater(services, due, error)
    }
  }
}

async function makeExport(services: Needs, { id, attempts }: DueExport): Promise<void> {
  const { config, transact } = services
  const data = await gatherAccountData(services, id)
  const text = JSON.stringify({ success: true, madeAt: new Date(), ...data }, null, 1)
  const file = createSealer(config.dataKeys, purpose).seal(await promisify(gzip)(text), id)
  const token = newSecret()
  await transact(async (uow) => {
    // Fenced: a slower run finds another number of attempts. The account may have been closed meanwhile.
    const made = await query(uow.trx, {
      name: 'exports.finish-made',
      text: /* sql */ `
        update data_exports set ready_at = clock_timestamp(), token_hash = $3, sealed_file = $4, due_at = null,
          last_error = null, expires_at = clock_timestamp() + $5::int * interval '1 hour'
        where id = $1 and attempts = $2 and due_at is not null returning 1`,
      values: [id, attempts, hashSecret(token), file, linkHours],
    })
    if (made.length === 0) return
    // As for money: after a change of the e-mail the link goes to the address before it.
    const { moneyEmail } = await readRecentChanges(uow.trx, id)
    const { publicUrl } = config.http
    const notMe = await createNotMeLink(uow, publicUrl, id)
    await queueEmail(uow, { kind: 'data-export', to: moneyEmail, ...linkMail(publicUrl, token, notMe) })
  })
}

function linkMail(publicUrl: string, token: string, notMe: string) {
  const site = new URL(publicUrl).host
  return {
    subject: `Your data at ${site}`,
    blocks: [
      `Somebody, most likely you, asked for the data of your account at ${site}. Open this page and press its button to have the file:`,
      { link: linkUrl(publicUrl, 'export', token) },
      `The link is good for ${linkHours} hours. Never give it to anybody: the file says what you earn and where it goes.`,
      ...notMeBlocks(notMe),
    ],
  }
}

async function retryLater({ db, log, metrics }: Needs, due: DueExport, error: unknown): Promise<void> {
  const givenUp = due.attempts >= attemptsMost
  if (givenUp) metrics.alerts.inc({ kind: 'export_failed' })
  log.error({ err: error, userId: due.id, givenUp }, "an account's data could not be gathered")
  await finishRows(db, exportQueue, [
    { ...due, dueInMs: givenUp ? null : pauseMs, error: 'the data could not be gathered' },
  ])
}

export interface ExportFile {
  readonly text: Buffer
  readonly madeAt: Date
}

/** The file of a mailed link, as often as it is asked for within 72 hours. Throws `invalid_link`. */
export async function openExport(
  { db, config }: Pick<Services, 'db' | 'config'>,
  token: string,
): Promise<ExportFile> {
  const [found] = await query<{ id: string; file: Buffer; madeAt: Date }>(db, {
    name: 'exports.open',
    text: /* sql */ `
      select id, sealed_file as file, ready_at as "madeAt" from data_exports
      where token_hash = $1 and expires_at > clock_timestamp() and sealed_file is not null`,
    values: [hashSecret(token)],
  })
  if (found === undefined) throw new DomainError('invalid_link')
  const zipped = createSealer(config.dataKeys, purpose).open(found.file, found.id)
  return { text: await promisify(gunzip)(zipped), madeAt: found.madeAt }
}
