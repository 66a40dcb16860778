import { readFileSync, writeFileSync } from 'node:fs'
import sharp from 'sharp'

// `node dist/scripts/readme-pictures.js`: makes pictures of the README and the manuals of the screenshots that `npm run test:browser` saves.

/** The screenshots of each picture, from left to right. */
const pictures = {
  'page.png': ['first-tip-naira-5', 'first-tip-naira-6', 'first-tip-naira-7'],
  'checkout.png': ['A2-choose-phone-dark', 'J2-instructions-phone-dark', 'G-done-phone-dark'],
  'dashboard.png': ['first-tip-naira-3', 'first-tip-naira-4', 'first-tip-naira-8'],
}
const gap = 20
const ground = '#d9dde7'
/** Screens of few colours: a palette takes a third of the bytes. */
const format = { palette: true, colours: 64 }

for (const [name, screenshots] of Object.entries(pictures)) {
  const shots = screenshots.map((shot) => sharp(readFileSync(`screenshots/${shot}.png`)))
  const sizes = await Promise.all(shots.map((shot) => shot.metadata()))
  const height = Math.max(...sizes.map((size) => size.height)) + 2 * gap
  const width = sizes.reduce((sum, size) => sum + size.width + gap, gap)
  let left = gap
  const placed = []
  for (const [at, shot] of shots.entries()) {
    placed.push({ input: await shot.toBuffer(), left, top: gap })
    left += (sizes[at]?.width ?? 0) + gap
  }
  const picture = sharp({ create: { width, height, channels: 3, background: ground } }).composite(placed)
  writeFileSync(`.readme/${name}`, await picture.png(format).toBuffer())
}
