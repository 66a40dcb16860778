import type { Knex } from 'knex'
import { serviceName } from '../../kernel/brand.js'
import { nairaText, usdcText } from '../../kernel/money.js'
import { openAddress } from '../../mail/queue-email.js'
import { query } from '../../platform/database/database.js'
import type { DisputeEvidence, DisputeFile } from '../../ports/disputes.js'
import type { Services } from '../../services.js'
import type { StoredDispute } from './dispute.js'
import { readShares } from './payment-shares.js'

export interface Evidence {
  /** For the bank, and for the operator. Nothing of it says who an anonymous payer is. */
  readonly facts: readonly (readonly [name: string, value: string])[]
  /** Undefined: anonymous, or the address is erased. There is nothing to convince a bank with, so the dispute is accepted. */
  readonly payer: { readonly email: string; readonly name: string } | undefined
}

interface Row {
  readonly intentId: string
  readonly createdAt: Date
  readonly chargeKobo: bigint
  readonly sender: string
  readonly creatorName: string
  readonly pages: readonly string[]
  readonly sealedEmail: Buffer | null
  readonly paidKobo: bigint | null
  readonly paidAt: Date | null
}

/** Collects what was paid, when, for whom, and what was given for it. Undefined: about no charge of ours. */
export async function collectEvidence(
  { db, config }: Pick<Services, 'db' | 'config'>,
  { transaction, intentId, category, openedAt, kobo }: StoredDispute,
): Promise<Evidence | undefined> {
  if (intentId === null) return undefined
  const row = await readRow(db, intentId, transaction)
  if (row === undefined) return undefined
  const email = row.sealedEmail === null ? null : openAddress(config.dataKeys, row.sealedEmail)
  const payer = email === null ? undefined : { email, name: row.sender }
  const credited = (await readShares(db, transaction))?.creatorMicro ?? 0n
  const all: readonly (readonly [string, string | undefined])[] = [
    ['Merchant', `${serviceName}, ${config.http.publicUrl}`],
    ['Payment', `${transaction}, our number ${row.intentId}`],
    ['Asked for', `${nairaText(row.chargeKobo)} on ${momentText(row.createdAt)}, at the payer's own request`],
    [
      'Paid',
      row.paidKobo === null || row.paidAt === null
        ? 'not recorded here'
        : `${nairaText(row.paidKobo)} on ${momentText(row.paidAt)}, on the page of the payment provider`,
    ],
    [
      'Disputed',
      `${nairaText(kobo)} on ${momentText(openedAt)}${category === null ? '' : `, as ${category}`}`,
    ],
    ['For', `a voluntary tip to the creator ${row.creatorName}, given at once; nothing was shipped`],
    ['Given', credited === 0n ? 'nothing yet' : `${usdcText(credited)} were credited to the creator`],
    ['Page of the creator', row.pages.length === 0 ? undefined : row.pages.join(', ')],
    ['Payer', payer === undefined ? 'anonymous: no address is known' : `${payer.name}, ${payer.email}`],
    ['Receipt', payer === undefined ? undefined : `was sent to ${payer.email} when the payment arrived`],
  ]
  const facts = all.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
  return { facts, payer }
}

async function readRow(db: Knex, intentId: string, transaction: string): Promise<Row | undefined> {
  const [row] = await query<Row>(db, {
    name: 'disputes.evidence',
    text: /* sql */ `
      select f.id as "intentId", f.created_at as "createdAt", f.charge_kobo as "chargeKobo", t.sender, u.name as "creatorName",
        array(select 'https://' || domain from creator_domains where user_id = f.user_id and domain not like '*%' order by position limit 5) as pages,
        p.email_sealed as "sealedEmail", m.kobo as "paidKobo", m.paid_at as "paidAt"
      from fiat_intents f join tips t on t.id = f.id join users u on u.id = f.user_id left join payers p on p.id = f.payer_id
      left join fiat_payments m on m.provider_transaction = $2 and m.intent_id = f.id
      where f.id = $1`,
    values: [intentId, transaction],
  })
  return row
}

function momentText(at: Date): string {
  return `${at.toISOString().slice(0, 16).replace('T', ' ')} UTC`
}

/** The file that the provider requires with each answer. */
export function evidenceFile(id: string, message: string, evidence: Evidence | undefined): DisputeFile {
  const facts = (evidence?.facts ?? []).map(([name, value]) => `${name}: ${value}`)
  const bytes = pdfOf([`Dispute ${id}`, '', message, '', ...facts])
  return { name: `dispute-${id}.pdf`, type: 'application/pdf', bytes }
}

/** What the provider stores about the payer. Undefined for one who is not known: nothing is made up. */
export function wireEvidence({ facts, payer }: Evidence): DisputeEvidence | undefined {
  if (payer === undefined) return undefined
  const service = facts.map(([name, value]) => `${name}: ${value}`).join('; ')
  // We ask no payer for a telephone number, and the provider requires the field.
  return { ...payer, phone: 'not collected', service: service.slice(0, 1500) }
}

const lineWidth = 95
const linesPerPage = 60
const lineHeight = 12
const top = 800
const left = 50

/** Lines of text as a PDF file in Courier. Characters that its encoding lacks are written as `?`. */
function pdfOf(text: readonly string[]): Uint8Array {
  const lines = text.flatMap(wrap)
  const pages: string[][] = []
  for (let start = 0; start < Math.max(lines.length, 1); start += linesPerPage)
    pages.push(lines.slice(start, start + linesPerPage))
  const kids = pages.map((_, index) => `${4 + 2 * index} 0 R`).join(' ')
  return assemble([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Courier /Encoding /WinAnsiEncoding >>',
    ...pages.flatMap((page, index) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * index} 0 R >>`,
      stream(page),
    ]),
  ])
}

function wrap(line: string): string[] {
  const printable = line.normalize('NFC').replace(/[^\x20-\x7e\xa0-\xff]/gu, '?')
  const parts: string[] = []
  for (let start = 0; start < Math.max(printable.length, 1); start += lineWidth)
    parts.push(printable.slice(start, start + lineWidth))
  return parts
}

function stream(lines: readonly string[]): string {
  const shown = lines.map((line) => `(${line.replace(/[\\()]/g, '\\$&')}) Tj T*`)
  const content = `BT /F1 10 Tf ${lineHeight} TL ${left} ${top} Td\n${shown.join('\n')}\nET`
  return `<< /Length ${content.length} >>\nstream\n${content}\nendstream`
}

/** The objects, numbered from 1, and the table of where each begins. */
function assemble(objects: readonly string[]): Uint8Array {
  let file = '%PDF-1.4\n'
  const offsets = objects.map((object, index) => {
    const offset = file.length
    file += `${index + 1} 0 obj\n${object}\nendobj\n`
    return offset
  })
  const table = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('')
  const size = objects.length + 1
  file += `xref\n0 ${size}\n0000000000 65535 f \n${table}trailer\n<< /Size ${size} /Root 1 0 R >>\nstartxref\n${file.length}\n%%EOF\n`
  return Buffer.from(file, 'latin1')
}
