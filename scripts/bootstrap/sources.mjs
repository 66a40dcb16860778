import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** The folders and files of hand-written code that exist. */
export function sourcePlaces() {
  const places = ['src', 'workers', 'migrations', 'scripts', 'test', 'knexfile.ts']
  return places.filter((place) => existsSync(place))
}

/** Every source file whose path matches, sorted. @param {RegExp} pattern */
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

/** The texts that the service reads beside its compiled code. */
export function textFiles() {
  return sourceFiles(/^src[/].*[.]md$/)
}
