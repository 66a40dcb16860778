import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Where hand-written code lies, as far as it is there. */
export function sourcePlaces() {
  const places = ['src', 'workers', 'migrations', 'scripts', 'test', 'knexfile.ts']
  return places.filter((place) => existsSync(place))
}

/** Every source file whose name fits, in a stable order. @param {RegExp} pattern */
export function sourceFiles(pattern) {
  return sourcePlaces()
    .flatMap((place) =>
      place.endsWith('.ts')
        ? [place]
        : readdirSync(place, { recursive: true }).map((file) => join(place, file)),
    )
    .filter((file) => pattern.test(file))
    .sort()
}
