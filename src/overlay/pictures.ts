import type { Knex } from 'knex'
import { lockCreator } from '../creators/find-creator.js'
import { query, write } from '../platform/database/database.js'
import { makePicture } from '../platform/pictures/make-picture.js'
import type { Services } from '../services.js'

/** The longest side, px. */
const side = 800
/** Pictures that no tier shows yet. */
const mostUnused = 10

/** Makes an uploaded picture ours and stores it for a tier. Returns its name. Throws `invalid_picture`. */
export async function addPicture(
  { transact }: Pick<Services, 'transact'>,
  userId: string,
  given: Uint8Array,
): Promise<string> {
  const { picture, hash } = await makePicture(userId, given, side)
  await transact(async ({ trx }) => {
    await lockCreator(trx, userId)
    await write(trx, {
      name: 'overlay_pictures.add',
      text: /* sql */ `
        with unused as (
          select hash from overlay_pictures where user_id = $1 and hash <> $2 and hash not in (
            select t ->> 'picture' from overlays o, jsonb_array_elements(o.settings -> 'tiers') t
            where o.user_id = $1 and t ? 'picture')
          order by added_at desc offset ${mostUnused - 1}
        ), deleted as (
          delete from overlay_pictures where user_id = $1 and hash in (select hash from unused)
        )
        insert into overlay_pictures (user_id, hash, picture) values ($1, $2, $3)
        on conflict (user_id, hash) do update set added_at = clock_timestamp()`,
      values: [userId, hash, picture],
    })
  })
  return hash
}

/** A picture of the overlay at this address. */
export async function readPicture(db: Knex, token: string, hash: string): Promise<Buffer | undefined> {
  if (!/^[0-9a-f]{16}$/.test(hash)) return undefined
  const [row] = await query<{ picture: Buffer }>(db, {
    name: 'overlay_pictures.read',
    text: 'select p.picture from overlays o join overlay_pictures p on p.user_id = o.user_id where o.token = $1 and p.hash = $2',
    values: [token, hash],
  })
  return row?.picture
}
