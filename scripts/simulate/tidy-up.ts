import type { Knex } from 'knex'
import { query } from '../../src/platform/database/database.js'
import type { People } from './people.js'
import { isAway, type Provider } from './provider.js'
import type { Turns } from './turns.js'
import type { World } from './world.js'

interface Scene {
  readonly db: Knex
  readonly turns: Turns
  readonly provider: Provider
  readonly world: World
  readonly people: People
  /** How long the run has been. */
  readonly days: number
}

/** Operators and creators end what waits for them, as the runbook says. True: the provider's list and the withdrawals agree. */
export async function tidyUp(scene: Scene): Promise<boolean> {
  const { db, turns, people, days } = scene
  await people.switchPayouts(true)
  const differences = await people.compare(days)
  for (const review of await turns.beside(() => readReviews(db))) await endReview(scene, review)
  for (const { reference, state } of await turns.beside(() => readHeld(db)))
    if (state === 'identity_hold') await people.order(reference, 'release')
    else await people.cancel(reference, 'the end')
  await endRefunds(scene)
  return differences === 0
}

interface OpenReview {
  readonly reference: string
  readonly kind: string
  readonly providerReference: string
}

async function endReview(
  { people, provider }: Scene,
  { reference, kind, providerReference }: OpenReview,
): Promise<void> {
  const transfer = provider.transfers.get(providerReference)
  const away = transfer !== undefined && isAway(transfer)
  if (kind === 'unknown') return people.order(reference, transfer === undefined ? 'void' : 'ask')
  if (kind === 'mismatch') return people.order(reference, 'resolve', away ? transfer.amountKobo : 0n)
  if (kind === 'reversed' || kind === 'failed_after_completed')
    return people.order(reference, away ? 'ask' : 'recredit')
  return people.order(reference, 'close')
}

async function endRefunds({ world, provider, people }: Scene): Promise<void> {
  for (const id of await world.openRefunds()) {
    const sent = provider.refunds.find(({ note, state }) => note === id && state !== 'failed')
    if (sent === undefined) await people.orderRefund(id, 'retry')
    else if (sent.state === 'paid') await people.orderRefund(id, 'returned')
  }
}

function readReviews(db: Knex): Promise<OpenReview[]> {
  return query<OpenReview>(db, {
    name: 'simulate.reviews',
    text: /* sql */ `
      select w.reference, r.kind, w.provider_reference as "providerReference"
      from review_items r join withdrawals w on w.id = r.withdrawal_id where r.resolved_at is null order by r.id`,
  })
}

function readHeld(db: Knex) {
  return query<{ reference: string; state: string }>(db, {
    name: 'simulate.held',
    text: /* sql */ `
      select reference, send_state as state from withdrawals
      where send_state in ('identity_hold', 'confirmation_hold') order by created_at, reference`,
  })
}
