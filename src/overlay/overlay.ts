import type { Knex } from 'knex'
import { newSecret } from '../kernel/ids.js'
import { query, write } from '../platform/database/database.js'
import type { UnitOfWork } from '../platform/database/transact.js'
import type { Services } from '../services.js'
import { takeStamp } from '../tips/take-stamp.js'
import { type OverlaySettings, parseSettings, type SettingsChange } from './schemas.js'

type Needs = Pick<Services, 'transact'>

interface Overlay {
  readonly userId: string
  readonly token: string
  readonly settings: OverlaySettings
}
type Row = Omit<Overlay, 'settings'> & { readonly settings: object }

/** Whether a text may be the token of an overlay. No other needs a query. */
export const isOverlayToken = (text: string): boolean => /^[\w-]{43}$/.test(text)

/** The overlay of an address. Undefined: nobody's. */
export async function findOverlay(db: Knex, token: string): Promise<Overlay | undefined> {
  if (!isOverlayToken(token)) return undefined
  const [row] = await query<Row>(db, {
    name: 'overlays.find',
    text: 'select user_id as "userId", token, settings from overlays where token = $1',
    values: [token],
  })
  return row && { ...row, settings: parseSettings(row.settings) }
}

/** The settings of a creator, also of one who has no overlay yet. */
export async function readSettings(db: Knex, userId: string): Promise<OverlaySettings> {
  return (await findOwn(db, userId))?.settings ?? parseSettings({})
}

/** A creator's own overlay. The first look makes it. */
export async function readOverlay(
  { db, transact }: Needs & Pick<Services, 'db'>,
  userId: string,
): Promise<Overlay> {
  return (await findOwn(db, userId)) ?? (await transact((uow) => lockOverlay(uow, userId))).overlay
}

export async function changeSettings(
  { transact }: Needs,
  userId: string,
  change: SettingsChange,
): Promise<Overlay> {
  return transact(async (uow) => {
    const { overlay, stored, at } = await lockOverlay(uow, userId)
    const given = Object.entries(change).filter(([, value]) => value !== undefined)
    const settings = { ...stored, ...Object.fromEntries(given) }
    await write(uow.trx, {
      name: 'overlays.change',
      text: 'update overlays set settings = $2, changed_at = $3 where user_id = $1',
      values: [userId, JSON.stringify(settings), at],
    })
    return { ...overlay, settings: parseSettings(settings) }
  })
}

/** Gives the overlay a new address. The old one ends, also where it is open. */
export async function renewToken({ transact }: Needs, userId: string): Promise<Overlay> {
  return transact(async (uow) => {
    const { overlay, at } = await lockOverlay(uow, userId)
    const token = newSecret()
    await write(uow.trx, {
      name: 'overlays.renew',
      text: 'update overlays set token = $2, changed_at = $3 where user_id = $1',
      values: [userId, token, at],
    })
    return { ...overlay, token }
  })
}

/** Has every open overlay of the creator show a sample. */
export async function sendTest({ transact }: Needs, userId: string, amountUsd: number): Promise<void> {
  await transact(async (uow) => {
    const { at } = await lockOverlay(uow, userId)
    await write(uow.trx, {
      name: 'overlays.test',
      text: 'update overlays set tested_at = $2, tested_usd = $3 where user_id = $1',
      values: [userId, at, amountUsd],
    })
  })
}

async function findOwn(db: Knex, userId: string): Promise<Overlay | undefined> {
  const [row] = await query<Row>(db, {
    name: 'overlays.own',
    text: 'select user_id as "userId", token, settings from overlays where user_id = $1',
    values: [userId],
  })
  return row && { ...row, settings: parseSettings(row.settings) }
}

/** The creator's stamp locks the overlay too, so that changes come one after the other. */
async function lockOverlay(
  uow: UnitOfWork,
  userId: string,
): Promise<{ readonly overlay: Overlay; readonly stored: object; readonly at: Date }> {
  const at = await takeStamp(uow, userId)
  const [row] = await query<Row>(uow.trx, {
    name: 'overlays.make',
    text: /* sql */ `
      insert into overlays (user_id, token, changed_at) values ($1, $2, $3)
      on conflict (user_id) do update set user_id = excluded.user_id
      returning user_id as "userId", token, settings`,
    values: [userId, newSecret(), at],
  })
  if (row === undefined) throw new Error('an overlay was neither made nor found')
  return { overlay: { ...row, settings: parseSettings(row.settings) }, stored: row.settings, at }
}

/** Deletes a creator's overlay and decisions. The words that were hidden stay deleted. */
export async function forgetOverlay(trx: Knex.Transaction, userId: string): Promise<void> {
  await write(trx, {
    name: 'overlays.forget',
    text: /* sql */ `
      with decisions as (delete from tip_decisions where user_id = $1),
        pictures as (delete from overlay_pictures where user_id = $1)
      delete from overlays where user_id = $1`,
    values: [userId],
  })
}
