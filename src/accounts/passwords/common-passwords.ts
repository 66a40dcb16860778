import { serviceName } from '../../kernel/brand.js'
import { DomainError } from '../../kernel/errors.js'
import type { Config } from '../../platform/config/config.js'

/** What a guesser knows of an account. */
interface KnownWords {
  readonly email: string
  readonly name: string
}

/** Letters and digits that a password must have besides words that a guesser knows. */
const leastOwn = 5
const shortestWord = 3

/**
 * Whether a password is one of the 100,000 most common ones, in any case, or little more than the e-mail, the name or the
 * service's name. The list is of the package `fxa-common-password-list` (MPL-2.0): the 50,000 most common passwords of 8 and
 * more characters, which are all of those among the first 100,000; shorter ones are refused for their length.
 */
export async function isCommonPassword(
  { http }: Pick<Config, 'http'>,
  password: string,
  { email, name }: KnownWords,
): Promise<boolean> {
  const plain = password.toLowerCase()
  // Loaded with the first password: decoding takes 20 ms and 8 MB, which most processes never need.
  const { default: list } = await import('fxa-common-password-list')
  if (list.test(plain)) return true
  const known = [email, serviceName, new URL(http.publicUrl).hostname, name].flatMap((text) => [
    text.toLowerCase(),
    ...wordsOf(text),
  ])
  const own = known
    .filter((word) => word.length >= shortestWord)
    .sort((one, other) => other.length - one.length)
    .reduce((left, word) => left.replaceAll(word, ''), plain)
  return own !== plain && own.replaceAll(/[^\p{L}\p{N}]/gu, '').length < leastOwn
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().split(/[^\p{L}\p{N}]+/u)
}

/** Throws `common_password`. */
export async function assertUncommon(
  config: Pick<Config, 'http'>,
  password: string,
  known: KnownWords,
): Promise<void> {
  if (await isCommonPassword(config, password, known)) throw new DomainError('common_password')
}
