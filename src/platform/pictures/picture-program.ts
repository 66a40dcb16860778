import { buffer } from 'node:stream/consumers'
import sharp from 'sharp'
import { type Card, drawCard } from './draw-card.js'

// The program that draw-picture.ts starts for each picture. It has no setting and no secret, reads from stdin and writes to stdout.

/** A larger picture is refused by its header, before it is decoded. */
const mostPixels = 40_000_000

/** What is to be made. */
export type PictureJob =
  /** Makes an uploaded picture ours: at most this wide and high, upright, without metadata, the first frame alone. */
  { readonly make: 'picture'; readonly side: number } | { readonly make: 'card'; readonly card: Card }

async function run(job: PictureJob, given: Buffer): Promise<Buffer> {
  sharp.cache(false)
  sharp.concurrency(1)
  if (job.make === 'card') return drawCard(job.card, given)
  return sharp(given, { limitInputPixels: mostPixels, failOn: 'error', pages: 1 })
    .rotate()
    .resize(job.side, job.side, { fit: 'inside', withoutEnlargement: true })
    .webp({ quality: 82 })
    .toBuffer()
}

const job: PictureJob = JSON.parse(process.argv[2] ?? '')
process.stdout.write(await run(job, await buffer(process.stdin)))
