import { createHash } from 'node:crypto'
import { inputError } from '../../kernel/errors.js'
import { drawPicture, PictureRefused } from './draw-picture.js'

const hashLength = 16

export interface Picture {
  /** WebP. */
  readonly picture: Buffer
  /** Names it. */
  readonly hash: string
}

/** Makes an uploaded picture ours, at most `side` pixels wide and high. Throws `invalid_picture`. */
export async function makePicture(userId: string, given: Uint8Array, side: number): Promise<Picture> {
  const picture = await drawPicture(userId, { make: 'picture', side }, given).catch((error: unknown) => {
    if (!(error instanceof PictureRefused)) throw error
    throw inputError('invalid_picture', 'body', 'cannot be decoded, or has more than 40 million pixels')
  })
  return { picture, hash: createHash('sha256').update(picture).digest('hex').slice(0, hashLength) }
}
