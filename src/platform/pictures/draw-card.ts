import { createRequire } from 'node:module'
import sharp from 'sharp'

/** What a link preview says. */
export interface Card {
  readonly title: string
  readonly lead: string
  readonly address: string
  readonly colour: string
}

const size = { width: 1200, height: 630 } as const
const side = 220
const margin = 80
const wide = size.width - 2 * margin
/** It has the letters of Nigeria's languages and the naira sign, and comes with the product: a server may have no font. */
const fonts = { bold: 'DejaVuSans-Bold.ttf', plain: 'DejaVuSans.ttf' } as const

/** Draws the picture that other sites show beside a link. `picture`: the creator's, or nothing. */
export async function drawCard({ title, lead, address, colour }: Card, picture: Buffer): Promise<Buffer> {
  const hasPicture = picture.length > 0
  const left = hasPicture ? margin + side + 50 : margin
  const parts = await Promise.all([
    line(title, 'bold', size.width - left - margin, 120, '#ffffff').then((input) => ({
      input,
      left,
      top: hasPicture ? 130 : 110,
    })),
    ...(lead === ''
      ? []
      : [line(lead, 'plain', wide, 90, '#e8e9ff').then((input) => ({ input, left: margin, top: 345 }))]),
    line(address, 'bold', wide, 56, '#ffffff').then((input) => ({ input, left: margin, top: 500 })),
    ...(hasPicture ? [round(picture).then((input) => ({ input, left: margin, top: 80 }))] : []),
  ])
  return sharp({ create: { ...size, channels: 3, background: colour } })
    .composite(parts)
    .png({ palette: true })
    .toBuffer()
}

/** A line of text, as large as fits. The library reads the text as markup. */
function line(
  text: string,
  font: keyof typeof fonts,
  width: number,
  height: number,
  colour: string,
): Promise<Buffer> {
  const fontfile = createRequire(import.meta.url).resolve(`dejavu-fonts-ttf/ttf/${fonts[font]}`)
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return sharp({
    text: {
      text: `<span foreground="${colour}">${escaped}</span>`,
      font: font === 'bold' ? 'DejaVu Sans Bold' : 'DejaVu Sans',
      fontfile,
      width,
      height,
      rgba: true,
    },
  })
    .png()
    .toBuffer()
}

function round(picture: Buffer): Promise<Buffer> {
  const circle = `<svg width="${side}" height="${side}"><circle cx="${side / 2}" cy="${side / 2}" r="${side / 2}"/></svg>`
  return sharp(picture)
    .resize(side, side, { fit: 'cover' })
    .composite([{ input: Buffer.from(circle), blend: 'dest-in' }])
    .png()
    .toBuffer()
}
