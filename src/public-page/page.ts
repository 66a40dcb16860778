import type { Knex } from 'knex'
import { User } from '../accounts/models.js'
import { lockCreator } from '../creators/find-creator.js'
import type { Language } from '../kernel/languages.js'
import { displayNumber } from '../kernel/money.js'
import { query, write } from '../platform/database/database.js'
import type { Services } from '../services.js'
import { tipsSince } from '../tips/read/daily-sums.js'
import { changePageHandle, forgetPageHandles, listPageHandles } from './handle.js'
import type { OwnPage, PageChange, PageLink } from './schemas.js'

/** What a creator's page shows, without its picture. */
export interface PageContent {
  readonly words: string | null
  readonly links: readonly PageLink[]
  readonly goalTitle: string | null
  readonly goalCents: bigint | null
  readonly goalSince: Date | null
  readonly wall: boolean
  readonly robots: boolean
  readonly currency: 'NGN' | 'USD' | null
  readonly language: Language | null
  readonly thanks: string | null
  readonly pictureHash: string | null
}

/** Of a creator who has changed nothing. */
const untouched: PageContent = {
  words: null,
  links: [],
  goalTitle: null,
  goalCents: null,
  goalSince: null,
  wall: false,
  robots: true,
  currency: null,
  language: null,
  thanks: null,
  pictureHash: null,
}

export async function readPageContent(db: Knex, userId: string): Promise<PageContent> {
  const [content] = await query<PageContent>(db, {
    name: 'creator_pages.find',
    text: /* sql */ `
      select words, links, goal_title as "goalTitle", goal_cents as "goalCents", goal_since as "goalSince", wall, robots, currency,
        language, thanks, picture_hash as "pictureHash"
      from creator_pages where user_id = $1`,
    values: [userId],
  })
  return content ?? untouched
}

/** A goal and how far it is. Null where there is none. */
export async function readGoal(
  db: Knex,
  userId: string,
  { goalTitle: title, goalCents, goalSince }: PageContent,
): Promise<OwnPage['goal']> {
  if (title === null || goalCents === null || goalSince === null) return null
  const raisedUsd = await tipsSince(db, userId, goalSince)
  return { title, amountUsd: displayNumber(goalCents, 2), raisedUsd }
}

/** Where wallets tip a creator (src/actions). */
export const actionPath = (handle: string): string => `/actions/tip/${handle}`
/** The same as what wallets scan. Solana Pay: an address without a query is not encoded. */
export const payUrlOf = (publicUrl: string, handle: string): string =>
  `solana:${publicUrl}${actionPath(handle)}`
export const pageUrlOf = (publicUrl: string, handle: string): string => `${publicUrl}/@${handle}`

/** The address of a creator's picture. It changes with the picture, so it may be kept for ever. */
export function picturePath(handle: string, hash: string | null): string | null {
  return hash === null ? null : `/@${handle}/picture?v=${hash}`
}

/** A creator's own page, as its owner edits it. */
export async function readOwnPage(
  { db, config }: Pick<Services, 'db' | 'config'>,
  userId: string,
): Promise<{ page: OwnPage }> {
  const [user, content, handles] = await Promise.all([
    User.query(db).findById(userId).throwIfNotFound(),
    readPageContent(db, userId),
    listPageHandles(db, userId),
  ])
  const handle = handles.find(({ until }) => until === null)?.handle ?? null
  const { words, links, wall, robots, currency, language, thanks, pictureHash } = content
  return {
    page: {
      handle,
      url: handle === null ? null : pageUrlOf(config.http.publicUrl, handle),
      payUrl: handle === null ? null : payUrlOf(config.http.publicUrl, handle),
      name: user.name,
      pictureUrl: handle === null ? null : picturePath(handle, pictureHash),
      words,
      links: [...links],
      goal: await readGoal(db, userId, content),
      wall,
      robots,
      currency,
      language,
      thanks,
      oldHandles: handles.flatMap(({ handle: old, until }) =>
        until === null ? [] : [{ handle: old, until: until.toISOString() }],
      ),
    },
  }
}

/** Changes the given parts of a creator's page in one transaction. Throws `invalid_handle` with the reason. */
export async function changePage(
  { transact }: Pick<Services, 'transact'>,
  userId: string,
  { handle, goal, ...change }: PageChange,
): Promise<void> {
  await transact(async ({ trx }) => {
    await lockCreator(trx, userId)
    if (handle !== undefined) await changePageHandle(trx, userId, handle)
    const given = Object.entries(change).filter(([, value]) => value !== undefined)
    const before = await readPageContent(trx, userId)
    const content: PageContent = {
      ...before,
      ...Object.fromEntries(given),
      ...(goal !== undefined && {
        goalTitle: goal?.title ?? null,
        goalCents: goal === null ? null : BigInt(Math.round(goal.amountUsd * 100)),
      }),
    }
    await write(trx, {
      name: 'creator_pages.change',
      text: /* sql */ `
        insert into creator_pages as p (user_id, words, links, goal_title, goal_cents, goal_since, wall, robots, currency, thanks,
          language)
        values ($1, $2, $3, $4::text, $5, case when $4::text is not null then now() end, $6, $7, $8, $9, $10)
        on conflict (user_id) do update set words = excluded.words, links = excluded.links, goal_title = excluded.goal_title,
          goal_cents = excluded.goal_cents, wall = excluded.wall, robots = excluded.robots, currency = excluded.currency,
          thanks = excluded.thanks, language = excluded.language,
          goal_since = case when excluded.goal_title is not null then coalesce(p.goal_since, excluded.goal_since) end`,
      values: [
        userId,
        content.words,
        JSON.stringify(content.links),
        content.goalTitle,
        content.goalCents,
        content.wall,
        content.robots,
        content.currency,
        content.thanks,
        content.language,
      ],
    })
  })
}

/** Deletes a closed account's page. Nobody gets its handles for a time. */
export async function forgetPage(trx: Knex.Transaction, userId: string): Promise<void> {
  await write(trx, {
    name: 'creator_pages.forget',
    text: 'delete from creator_pages where user_id = $1',
    values: [userId],
  })
  await forgetPageHandles(trx, userId)
}
