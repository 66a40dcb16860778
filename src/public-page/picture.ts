import type { Knex } from 'knex'
import { lockCreator } from '../creators/find-creator.js'
import { query, write } from '../platform/database/database.js'
import { makePicture, type Picture } from '../platform/pictures/make-picture.js'
import type { Services } from '../services.js'

/** The longest side, px. */
const side = 512

/** Makes an uploaded picture ours and stores it. Throws `invalid_picture`. */
export async function changePicture(
  { transact }: Pick<Services, 'transact'>,
  userId: string,
  given: Uint8Array,
): Promise<void> {
  const { picture, hash } = await makePicture(userId, given, side)
  await transact(async ({ trx }) => {
    await lockCreator(trx, userId)
    await write(trx, {
      name: 'creator_pages.picture',
      text: /* sql */ `
        insert into creator_pages (user_id, picture, picture_hash) values ($1, $2, $3)
        on conflict (user_id) do update set picture = excluded.picture, picture_hash = excluded.picture_hash`,
      values: [userId, picture, hash],
    })
  })
}

export async function removePicture({ transact }: Pick<Services, 'transact'>, userId: string): Promise<void> {
  await transact(async ({ trx }) => {
    await lockCreator(trx, userId)
    await write(trx, {
      name: 'creator_pages.remove-picture',
      text: 'update creator_pages set picture = null, picture_hash = null where user_id = $1',
      values: [userId],
    })
  })
}

export async function readPicture(db: Knex, userId: string): Promise<Picture | undefined> {
  const [found] = await query<Picture>(db, {
    name: 'creator_pages.read-picture',
    text: 'select picture, picture_hash as hash from creator_pages where user_id = $1 and picture is not null',
    values: [userId],
  })
  return found
}
